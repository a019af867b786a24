/**
 * An item as the API promises it: the store gives JSON columns unread, here they get their types. Proven by `edge/inbox_test.ts`.
 */
import { isSealed } from "../lib/sealed.ts";
import type { ItemView } from "../store/queries/items.ts";
import { AskerView, DescribedView, FormView, type Item, LinkView } from "./api.ts";
import { given } from "./views.ts";

/** A decision without an answer that was sealed: nobody here can read it. */
function open<Decision extends NonNullable<ItemView["decision"]>>(
  decision: Decision,
): Omit<Decision, "answer"> {
  const { answer, ...rest } = decision;
  return answer === undefined || isSealed(answer) ? rest : { ...rest, answer };
}

/** A description of a shape that this version does not know is left out: the page then shows the bare arguments. */
export function itemView(view: ItemView): Item {
  const { described, trace, suggestions, decision, conversation, delegatedTo, firstApproval, ...more } = view;
  const { asker, form, link, escalated, ...rest } = more;
  return {
    ...rest,
    ...given("asker", AskerView.safeParse(asker).data),
    ...given("form", FormView.safeParse(form).data),
    ...given("link", LinkView.safeParse(link).data),
    ...given("escalated", escalated && { ...escalated }),
    conversation: { ...conversation },
    ...given("described", DescribedView.safeParse(described).data),
    ...given("trace", trace?.map((step) => ({ ...step }))),
    ...given("suggestions", suggestions && [...suggestions]),
    ...given("delegatedTo", delegatedTo && { ...delegatedTo }),
    ...given("firstApproval", firstApproval && { ...firstApproval }),
    ...given(
      "decision",
      decision &&
        { ...open(decision), ...given("arguments", decision.arguments && { ...decision.arguments }) },
    ),
  };
}
