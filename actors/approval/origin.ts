/** Turns what the toolbox says of a call into what policy judges, and remembers where conversations stand. */
import { DEFAULT_GROUP, judge, type Verdict } from "../../lib/policy/judge.ts";
import type { Call, Context } from "../../lib/policy/rule.ts";
import type { Described, ToolJudge } from "../protocol/tools.ts";
import type { Draft } from "./draft.ts";
import { needsTwo } from "./settings.ts";
import type { ApprovalState, Origin } from "./state.ts";

/** A conversation's id, whether a message names it by id or by ref. */
export function conversationId(text: string): string {
  return text.startsWith("conversation/") ? text.slice("conversation/".length) : text;
}

/** What is known of a conversation, else nothing. */
export function originOf(state: ApprovalState, conversation: string): Origin {
  const known = state.conversations.get(conversation);
  return known
    ? { profile: known.profile, source: known.source, channelId: known.channelId ?? undefined }
    : {};
}

/** Where this call comes from; what the toolbox read from the conversation's row is remembered. */
export function learnOrigin(draft: Draft, payload: ToolJudge): Origin {
  const conversation = conversationId(payload.conversation);
  const said = payload.context;
  if (!said) return originOf(draft.state, conversation);
  const facts = { profile: said.profile, source: said.source, channelId: said.channelId ?? null };
  draft.patch({ conversations: new Map(draft.state.conversations).set(conversation, facts) });
  return said;
}

/** The context of policy at this moment. An unknown profile has no group of its own. */
export function contextOf(state: ApprovalState, conversation: string, origin: Origin, now: number): Context {
  const group =
    (origin.profile !== undefined && Object.hasOwn(state.profiles, origin.profile)
      ? state.profiles[origin.profile]
      : undefined) ?? DEFAULT_GROUP;
  return { conversation, agent: origin.profile, source: origin.source, group, now };
}

/** A described call that policy can judge. */
export interface Judged {
  readonly tool: string;
  readonly conversation: string;
  readonly described: Described;
  readonly origin: Origin;
  /** The definition that it was described by; absent for a waiting item, whose digest binds it. */
  readonly schemaHash?: string | undefined;
}

/** Judges a call by the policy of this moment. */
export function judgeCall(draft: Draft, judged: Judged): Verdict {
  const { state, env } = draft;
  const { described } = judged;
  const known = state.tools.find((tool) => tool.name === judged.tool);
  const call: Call = {
    tool: judged.tool,
    class: described.class,
    source: described.source,
    paths: described.paths,
    outside: described.outside,
    argv: described.argv,
    askOnce: described.askOnce,
    twoPersons: needsTwo(state.gate, { tool: judged.tool, class: described.class }),
    known: known !== undefined && (judged.schemaHash === undefined || judged.schemaHash === known.schemaHash),
    changedAt: known?.changedAt ?? undefined,
  };
  return judge(
    { rules: state.rules, bypasses: state.bypasses },
    call,
    contextOf(state, judged.conversation, judged.origin, env.now),
  );
}
