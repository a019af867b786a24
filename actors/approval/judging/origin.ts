/** Turns what the toolbox says of a call into what policy judges, and remembers where conversations stand. */
import { needsTwo, type Wait, waitOf } from "../../../lib/gate_settings.ts";
import { judge, type Verdict } from "../../../lib/policy/judge.ts";
import { DEFAULT_GROUP } from "../../../lib/policy/rule_order.ts";
import type { Call, Context } from "../../../lib/policy/rule.ts";
import type { ProfileBody } from "../../../lib/profile.ts";
import type { ToolFacts } from "../../../lib/policy/tool_pattern.ts";
import type { LoadedTool } from "../../../store/loads/approval.ts";
import type { Described, ToolJudge } from "../../protocol/tools.ts";
import type { Draft } from "../draft.ts";
import type { ApprovalState, Origin } from "../state.ts";

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
  const requestedBy = payload.requestedBy && { requestedBy: payload.requestedBy };
  const { trigger } = payload;
  if (!said) return { ...originOf(draft.state, conversation), ...requestedBy, trigger };
  // Which profile a conversation has is approval's own to say: the toolbox may have read the row before another one was chosen.
  const profile = draft.state.conversations.get(conversation)?.profile ?? said.profile;
  const facts = { profile, source: said.source, channelId: said.channelId ?? null };
  draft.patch({ conversations: new Map(draft.state.conversations).set(conversation, facts) });
  return { ...said, profile, ...requestedBy, trigger };
}

/** The context of policy at this moment. An unknown profile has no group of its own. */
export function contextOf(state: ApprovalState, conversation: string, origin: Origin, now: number): Context {
  const { source, trigger } = origin;
  const profile = profileOf(state, origin.profile);
  const group = profile?.groupId ?? DEFAULT_GROUP;
  return { conversation, agent: origin.profile, source, trigger, group, profile, now };
}

/** A profile by its id, if there is such a one. */
export function profileOf(state: ApprovalState, id: string | undefined): ProfileBody | undefined {
  return id !== undefined && Object.hasOwn(state.profiles, id) ? state.profiles[id] : undefined;
}

/** A tool as policy sees it. What its server says of it counts only when the configuration trusts that server. */
export function factsOf(
  tool: string,
  described: Pick<Described, "class">,
  known: LoadedTool | undefined,
): ToolFacts {
  return { tool, class: described.class, hints: known?.trusted ? known.hints : undefined };
}

/** How long the item of a call waits, and what happens then; a question to people waits as everything does. */
export function waitFor(
  state: ApprovalState,
  { tool, described }: { readonly tool?: string | undefined; readonly described?: Described | undefined },
): Wait {
  const known = state.tools.find(({ name }) => name === tool);
  return waitOf(state.gate, tool === undefined || !described ? undefined : factsOf(tool, described, known));
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
  const facts = factsOf(judged.tool, described, known);
  const call: Call = {
    ...facts,
    source: described.source,
    paths: described.paths,
    outside: described.outside,
    argv: described.argv,
    askOnce: described.askOnce,
    twoPersons: needsTwo(state.gate, facts),
    known: known !== undefined && (judged.schemaHash === undefined || judged.schemaHash === known.schemaHash),
    mode: known?.mode,
    changedAt: known?.changedAt ?? undefined,
  };
  return judge(
    { rules: state.rules, bypasses: state.bypasses },
    call,
    contextOf(state, judged.conversation, judged.origin, env.now),
  );
}

/** Whether two people must allow such a call, by the settings of this moment. */
export function needsTwoPersons(state: ApprovalState, tool: string, described: Described): boolean {
  const known = state.tools.find((each) => each.name === tool);
  return needsTwo(state.gate, factsOf(tool, described, known));
}
