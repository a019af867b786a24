/**
 * Questions of a running tool to a person (`ask_user`, an MCP elicitation): items of their own kind with the same life, answered in words. Who asks
 * may withdraw one: then nobody would hear the answer, and the item says why it is no longer needed. Proven by `questions_test.ts`.
 */
import type { Decider, DecisionBody, QuestionRaise, QuestionWithdrawn } from "../../protocol/approval.ts";
import type { Draft } from "../draft.ts";
import { isWithdrawn } from "./endings.ts";
import { itemOfCall, openItem, settleItem } from "./items.ts";
import { conversationId, originOf } from "../judging/origin.ts";
import type { OpenItem } from "../state.ts";

/** Raises a question. */
export function onQuestion(draft: Draft, payload: QuestionRaise): void {
  const conversation = conversationId(payload.conversation);
  if (isWithdrawn(draft, payload.callId, conversation)) {
    return draft.tell("toolbox", "question.answered", { callId: payload.callId, outcome: "cancelled" });
  }
  if (itemOfCall(draft, payload.callId)) return;
  const { question: text, suggestions, sealTo, asker, form, link } = payload;
  const seconds = payload.expiresInSeconds ?? draft.state.gate.expirySeconds;
  openItem(draft, {
    id: draft.env.newId(),
    kind: payload.kind,
    version: 1,
    claimed: false,
    conversation,
    turnId: payload.turnId,
    callId: payload.callId,
    origin: originOf(draft.state, conversation),
    question: { text, suggestions, sealTo, asker, form, link },
    createdAt: draft.env.now,
    expiresAt: draft.env.now + seconds * 1000,
  }, { fixed: payload.expiresInSeconds !== undefined });
}

/** Nobody waits for the answer any more; `unheard`: one was given already, and nobody took it. */
export function onWithdrawn(draft: Draft, { callId, reason, unheard }: QuestionWithdrawn): void {
  const item = itemOfCall(draft, callId);
  if (item && item.kind !== "approval") return settleItem(draft, item, "superseded", { note: reason });
  if (!item && unheard) draft.op({ op: "item.unheard", callId, note: reason });
}

/**
 * Hands a person's answer, or their refusal, to the tool that asked. `cancel` of a question stops the turn as well; of a server's form it dismisses
 * it without a choice, which is the server's to take up.
 */
export function applyAnswer(draft: Draft, item: OpenItem, body: DecisionBody, by: Decider): void {
  const { callId } = item;
  if (body.decision === "answer") {
    draft.tell("toolbox", "question.answered", {
      callId,
      outcome: "answered",
      answer: body.answer ?? "",
      by: by.name,
    });
  } else if (body.decision === "cancel") {
    draft.tell("toolbox", "question.answered", { callId, outcome: "cancelled", by: by.name });
    if (item.kind === "elicitation") return settled(draft, item, body, by);
    const author = { kind: "web" as const, id: by.userId ?? "", name: by.name };
    draft.tell(`conversation/${item.conversation}`, "conversation.stop", { by: author, turnId: item.turnId });
  } else {
    draft.tell("toolbox", "question.answered", {
      callId,
      outcome: "declined",
      answer: body.note,
      by: by.name,
    });
  }
  settled(draft, item, body, by);
}

function settled(draft: Draft, item: OpenItem, body: DecisionBody, by: Decider): void {
  settleItem(draft, item, "applied", { decision: { decision: body.decision, by: by.name } });
}
