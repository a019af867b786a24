/** Changes of policy as entries of the decisions log: what was there before and after, so that a person can see and revert each one. */
import type { Decider } from "../../protocol/approval.ts";
import type { Draft } from "../draft.ts";
import { identityOf } from "../items/items.ts";

/** How a change went. */
export type Changed = { readonly ok: true; readonly id: string } | {
  readonly ok: false;
  readonly code: "bad_request" | "not_found" | "forbidden" | "corrupt" | "conflict";
  readonly message: string;
};

/** Who changes policy, and which entry of the log the change takes back, if it takes one back. */
export type Author = Decider & { readonly reverts?: number | undefined };

/** Records a change. */
export function recordChange(
  draft: Draft,
  by: Author,
  change: string,
  body: Readonly<Record<string, unknown>>,
): void {
  draft.record({
    kind: "policy",
    actor: identityOf(by),
    surface: by.surface,
    device: by.device ?? null,
    decision: change,
    body: { ...body, by: by.name, ...(by.reverts === undefined ? {} : { reverts: by.reverts }) },
  });
}

/** Something that the command names is not there. */
export function missing(message: string): Changed {
  return { ok: false, code: "not_found", message };
}

/** An approver decides, takes back and tightens only in the channels that are theirs. */
export const FORBIDDEN_HERE: Changed = {
  ok: false,
  code: "forbidden",
  message: "You may not do this in this conversation; ask its owner",
};

/** Half a policy is none, so none is changed. */
export const UNREADABLE: Changed = {
  ok: false,
  code: "corrupt",
  message: "The stored rules cannot be read; repair them first",
};
