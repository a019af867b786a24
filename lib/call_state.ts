/**
 * The life of a tool call. `tool_calls` is the one table with several writers; this list says which transition exists and which actor
 * kind alone may make it: whoever has the call in hand. So the conversation only inserts the row; when its turn stops it sends
 * `tool.cancel` and the holder moves the row, which cannot race. `store/ops/calls.ts` turns a transition into a guarded statement.
 * Proven by `call_state_test.ts`.
 */

/** Every state; the last five are final. */
export const callStates = [
  "proposed",
  "described",
  "judged",
  "waiting",
  "decided",
  "executing",
  "finished",
  "failed",
  "rejected",
  "cancelled",
  "expired",
] as const;

/** One of `callStates`. */
export type CallState = (typeof callStates)[number];

/** An actor kind that writes `tool_calls`. */
export type CallWriter = "conversation" | "toolbox" | "approval";

interface Transition {
  readonly to: CallState;
  readonly by: CallWriter;
  readonly from: readonly CallState[];
}

/** `proposed` is made by inserting the row (conversation), so nothing leads to it. */
export const transitions: readonly Transition[] = [
  { to: "described", by: "toolbox", from: ["proposed"] },
  { to: "judged", by: "approval", from: ["described"] },
  { to: "waiting", by: "approval", from: ["described"] },
  { to: "decided", by: "approval", from: ["waiting"] },
  // From `decided` only while it was not handed over: a person took the allowance back.
  { to: "rejected", by: "approval", from: ["described", "waiting", "decided"] },
  { to: "expired", by: "approval", from: ["waiting"] },
  { to: "executing", by: "toolbox", from: ["judged", "decided"] },
  { to: "finished", by: "toolbox", from: ["executing"] },
  { to: "failed", by: "toolbox", from: ["proposed", "described", "judged", "decided", "executing"] },
  // Only when the toolbox could not take the call over: its `tool.run` went to the dead letters.
  { to: "failed", by: "approval", from: ["judged", "decided", "executing"] },
  { to: "cancelled", by: "approval", from: ["described", "waiting"] },
  { to: "cancelled", by: "toolbox", from: ["proposed", "judged", "decided", "executing"] },
];

/** The states from which `by` may move a call to `to`; empty when it never may. */
export function sourcesOf(to: CallState, by: string): readonly CallState[] {
  return transitions.filter((transition) => transition.to === to && transition.by === by).flatMap((
    transition,
  ) => transition.from);
}

/** Whether nothing more can happen to a call in this state. */
export function isFinal(state: CallState): boolean {
  return !transitions.some((transition) => transition.from.includes(state));
}
