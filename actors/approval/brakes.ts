/**
 * Two brakes on an agent that runs away: too many calls of one tool in a minute are asked for, and a run of refusals stops its turn. Both count in
 * memory alone: a restart begins anew, which errs on the side of one more question.
 */
import type { Verdict } from "../../lib/policy/judge.ts";
import type { Draft } from "./draft.ts";
import { runOfDenials } from "./texts.ts";

const WINDOW_MS = 60_000;

/** The verdict, or a question in its place when this conversation has called the tool too often lately. */
export function slowDown(
  draft: Draft,
  verdict: Verdict,
  call: { conversation: string; tool: string },
): Verdict {
  const limit = draft.state.gate.callsPerMinute;
  if (verdict.outcome !== "allow" || limit === null) return verdict;
  const { now } = draft.env;
  const key = `${call.conversation} ${call.tool}`;
  const lately = (draft.state.lately.get(key) ?? []).filter((at) => at > now - WINDOW_MS);
  if (lately.length >= limit) {
    const outcome = `ask: more than ${limit} calls of this tool within a minute`;
    return { ...verdict, outcome: "ask", trace: [...verdict.trace, { step: "floor", outcome }] };
  }
  const others = [...draft.state.lately].filter(([, times]) => (times.at(-1) ?? 0) > now - WINDOW_MS);
  draft.patch({ lately: new Map(others).set(key, [...lately, now]) });
  return verdict;
}

/** Counts a refusal; true when it is one too many, and the turn is to stop. */
export function countDenial(draft: Draft, conversation: string): boolean {
  const limit = draft.state.gate.denialsInARow;
  const count = (draft.state.denials.get(conversation) ?? 0) + 1;
  const stop = limit !== null && count >= limit;
  const denials = new Map(draft.state.denials);
  if (stop) denials.delete(conversation);
  else denials.set(conversation, count);
  draft.patch({ denials });
  if (!stop) return false;
  const key = `denials/${conversation}/${draft.env.newId()}`;
  draft.tell("zulip", "topic.note", { conversation, key, text: runOfDenials(count) });
  return true;
}

/** Something was allowed, so the run is over. */
export function endDenials(draft: Draft, conversation: string): void {
  if (!draft.state.denials.has(conversation)) return;
  const denials = new Map(draft.state.denials);
  denials.delete(conversation);
  draft.patch({ denials });
}
