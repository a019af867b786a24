/**
 * An item as the API promises it: the store gives JSON columns unread, here they get their types. Proven by `edge/inbox_test.ts`.
 */
import type { ItemView } from "../store/queries/items.ts";
import { DescribedView, type Item } from "./api.ts";
import { given } from "./views.ts";

/** A description of a shape that this version does not know is left out: the page then shows the bare arguments. */
export function itemView(view: ItemView): Item {
  const { described, trace, suggestions, decision, conversation, delegatedTo, firstApproval, ...rest } = view;
  return {
    ...rest,
    conversation: { ...conversation },
    ...given("described", DescribedView.safeParse(described).data),
    ...given("trace", trace?.map((step) => ({ ...step }))),
    ...given("suggestions", suggestions && [...suggestions]),
    ...given("delegatedTo", delegatedTo && { ...delegatedTo }),
    ...given("firstApproval", firstApproval && { ...firstApproval }),
    ...given(
      "decision",
      decision && { ...decision, ...given("arguments", decision.arguments && { ...decision.arguments }) },
    ),
  };
}
