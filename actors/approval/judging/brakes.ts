/**
 * Two brakes on an agent that runs away: too many calls of one tool in a minute are asked for, and many refusals within a few minutes stop the
 * turn. Calls count by agent (profile) and tool, in whatever conversation; refusals by conversation, until a person allows something there: what a
 * rule lets run in between proves nothing. Both are rebuilt from the decisions log. Proven by `brakes_test.ts`.
 */
import type { Verdict } from "../../../lib/policy/judge.ts";
import type { LoadedApproval } from "../../../store/loads/approval.ts";
import { isAllowing } from "../../../lib/decision_kind.ts";
import type { DecisionKind, GateSettings } from "../../protocol/approval.ts";
import type { Draft } from "../draft.ts";
import type { ApprovalState } from "../state.ts";
import { runOfDenials } from "../texts.ts";

const CALLS_WINDOW_MS = 60_000;
const DENIALS_WINDOW_MS = 600_000;

/** Times at which something happened lately, by what it counts for; milliseconds since the epoch. */
export type Counts = ReadonlyMap<string, readonly number[]>;

/** The verdict, or a question in its place when this agent has called the tool too often lately. */
export function slowDown(
  draft: Draft,
  verdict: Verdict,
  call: { readonly agent: string; readonly tool: string },
): Verdict {
  const limit = draft.state.gate.callsPerMinute;
  if (verdict.outcome !== "allow" || limit === null) return verdict;
  const { now } = draft.env;
  const key = callKey(call);
  const lately = (draft.state.lately.get(key) ?? []).filter((at) => at > now - CALLS_WINDOW_MS);
  if (lately.length >= limit) {
    const outcome = `ask: more than ${limit} calls of this tool within a minute`;
    return { ...verdict, outcome: "ask", trace: [...verdict.trace, { step: "floor", outcome }] };
  }
  draft.patch({ lately: counted(draft.state.lately, key, now, CALLS_WINDOW_MS) });
  return verdict;
}

/** Counts a refusal; true when it is one too many, and the turn is to stop. */
export function countDenial(draft: Draft, conversation: string): boolean {
  const limit = draft.state.gate.denialsInARow;
  const denials = counted(draft.state.denials, conversation, draft.env.now, DENIALS_WINDOW_MS);
  const count = denials.get(conversation)?.length ?? 0;
  if (limit === null || count < limit) {
    draft.patch({ denials });
    return false;
  }
  draft.patch({ denials: without(denials, conversation) });
  const key = `denials/${conversation}/${draft.env.newId()}`;
  draft.tell("zulip", "topic.note", { conversation, key, text: runOfDenials(count) });
  return true;
}

/** A person allowed something there, so the agent is not on its own. */
export function endDenials(draft: Draft, conversation: string): void {
  if (!draft.state.denials.has(conversation)) return;
  draft.patch({ denials: without(draft.state.denials, conversation) });
}

/** Both counts as they were before a restart. `lately` is read oldest first. */
export function restoreBrakes(
  recent: LoadedApproval["recent"],
  { denialsInARow: limit }: GateSettings,
): Pick<ApprovalState, "lately" | "denials"> {
  let lately: Counts = new Map();
  let denials: Counts = new Map();
  for (const { at, kind, decision, conversation, agent, tool } of recent) {
    if (kind === "judgement" && decision === "allow") {
      lately = counted(lately, callKey({ agent: agent ?? conversation, tool }), at, CALLS_WINDOW_MS);
    } else if (kind === "decision" && isAllowing(decision as DecisionKind)) { // approval itself wrote the word
      denials = without(denials, conversation);
    } else if (isDenial(kind, decision)) {
      denials = counted(denials, conversation, at, DENIALS_WINDOW_MS);
      if ((denials.get(conversation)?.length ?? 0) >= (limit ?? Infinity)) {
        denials = without(denials, conversation);
      }
    }
  }
  return { lately, denials };
}

function isDenial(kind: string, decision: string): boolean {
  if (kind === "decision") return ["reject_once", "reject_always", "cancel"].includes(decision);
  return kind === "refusal" || decision === "deny";
}

function callKey({ agent, tool }: { readonly agent: string; readonly tool: string }): string {
  return `${agent} ${tool}`;
}

/** One more of it, without what is too old to count. */
function counted(counts: Counts, key: string, now: number, windowMs: number): Counts {
  const recent = new Map<string, readonly number[]>();
  for (const [other, times] of counts) {
    const left = times.filter((at) => at > now - windowMs);
    if (left.length > 0) recent.set(other, left);
  }
  return recent.set(key, [...recent.get(key) ?? [], now]);
}

function without(counts: Counts, key: string): Counts {
  const left = new Map(counts);
  left.delete(key);
  return left;
}
