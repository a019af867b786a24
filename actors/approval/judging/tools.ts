/** What tools there are, as the toolbox says, and which of them a conversation may offer to its model. */
import { isOffered } from "../../../lib/policy/judge.ts";
import { DEFAULT_PROFILE } from "../../../lib/policy/profile.ts";
import type { ProfileBody } from "../../../lib/profile.ts";
import type { ToolClass, ToolsKnown, ToolsList } from "../../protocol/tools.ts";
import type { Draft } from "../draft.ts";
import { contextOf, conversationId, factsOf, originOf, profileOf } from "./origin.ts";

/**
 * Takes over the toolbox's list, by name: the order that models are shown is then the same after a restart. When a server changes what a tool is
 * said to do, the moment is kept: whatever was allowed before then does not hold for it any more.
 */
export function onToolsKnown(draft: Draft, payload: ToolsKnown): void {
  const tools = payload.tools.map((tool) => ({
    name: tool.name,
    source: tool.source,
    class: tool.class,
    description: tool.description,
    parameters: tool.parameters,
    schemaHash: tool.schemaHash,
    trusted: tool.trusted ?? false,
    ...(tool.hints && { hints: tool.hints }),
    ...(tool.mode && { mode: tool.mode }),
  })).sort((a, b) => a.name < b.name ? -1 : 1);
  draft.op({ op: "tools.store", tools, sandbox: payload.sandbox });
  const seenTools = new Map(draft.state.seenTools);
  for (const { name, schemaHash, source } of tools) {
    const before = seenTools.get(name);
    const changed = before !== undefined && before.schemaHash !== schemaHash && source !== "builtin";
    seenTools.set(name, { name, schemaHash, changedAt: changed ? draft.env.now : before?.changedAt ?? null });
  }
  const changedAt = (name: string) => seenTools.get(name)?.changedAt ?? null;
  draft.patch({ seenTools, tools: tools.map((tool) => ({ ...tool, changedAt: changedAt(tool.name) })) });
}

/** How soon approval asks itself again while no toolbox has ever said what there is: in the first seconds of an installation, and after them. */
const ASK_AGAIN_MS = 200;
const ASK_AGAIN_LATER_MS = 5_000;
const SOON = 50;

/**
 * Answers with every tool that policy does not deny whatever its arguments. Before the toolbox has spoken for the first time the question is
 * put off, durably: an agent that is told of no tools would begin its first turn with the wrong idea.
 */
export function onToolsList(draft: Draft, payload: ToolsList, sender: string): void {
  const { state, env } = draft;
  // A conversation speaks for itself alone.
  const from = sender === "approval" ? payload.onBehalfOf ?? sender : sender;
  if (state.tools.length === 0) {
    const asked = (payload.asked ?? 0) + 1;
    const notBefore = env.now + (asked <= SOON ? ASK_AGAIN_MS : ASK_AGAIN_LATER_MS);
    return draft.tell("approval", "tools.list", { ...payload, onBehalfOf: from, asked }, { notBefore });
  }
  const conversation = conversationId(from);
  const origin = originOf(state, conversation);
  // Whom approval has not met has just begun, or has slept for long.
  const profile = origin.profile ?? payload.profile ?? DEFAULT_PROFILE;
  const context = contextOf(state, conversation, { ...origin, profile }, env.now);
  const offered = state.tools.filter((tool) => {
    const facts = factsOf(tool.name, { class: tool.class as ToolClass }, tool); // only `tools.known` writes it
    return isOffered({ rules: state.rules, bypasses: state.bypasses }, facts, context);
  });
  draft.tell(from, "tools.listed", {
    turnId: payload.turnId,
    ...givenBy(profileOf(state, profile)),
    tools: offered.map((tool) => ({
      name: tool.name,
      description: tool.description,
      parameters: { ...tool.parameters },
      parallel: tool.class === "read" && tool.source === "builtin",
    })),
  });
}

/** What a profile gives a turn beside its tools. */
function givenBy(profile: ProfileBody | undefined): { model?: string; instructions?: string } {
  return {
    ...(profile?.model != null && { model: profile.model }),
    ...(profile !== undefined && profile.instructions !== "" && { instructions: profile.instructions }),
  };
}
