/**
 * The answers a person can give, and which of them fit which kind of item: a question is never "approved", an approval never "answered".
 * Shared by the compare-and-set at the edge and by approval. Proven by `store/decide_test.ts`.
 */

/** What waits for a person. */
export type ItemKind = "approval" | "question" | "elicitation" | "restart";

/** Every answer, in the words of the HTTP API. */
export type DecisionKind =
  | "allow_once"
  | "allow_session"
  | "allow_always"
  | "reject_once"
  | "reject_always"
  | "cancel"
  | "answer"
  | "edit_and_allow";

const forApproval: readonly DecisionKind[] = [
  "allow_once",
  "allow_session",
  "allow_always",
  "reject_once",
  "reject_always",
  "cancel",
  "edit_and_allow",
];
const forQuestion: readonly DecisionKind[] = ["answer", "reject_once", "cancel"];

/** The answers that fit an item. A restart is decided by restarting the actor, not here. */
export function decisionsFor(kind: ItemKind): readonly DecisionKind[] {
  switch (kind) {
    case "approval":
      return forApproval;
    case "question":
    case "elicitation":
      return forQuestion;
    case "restart":
      return [];
    default:
      return kind satisfies never;
  }
}

/** Decisions that write a lasting rule, which is the owner's right alone. */
export function isLasting(decision: DecisionKind): boolean {
  return decision === "allow_always" || decision === "reject_always";
}

/** Decisions that stand for this one call only: all that may be given where nothing sandboxes it. */
export function isForOnce(decision: DecisionKind): boolean {
  return decision !== "allow_session" && decision !== "allow_always";
}

/** Decisions after which the call runs, as it was or edited. */
export function isAllowing(decision: DecisionKind): boolean {
  return decision.startsWith("allow") || decision === "edit_and_allow";
}
