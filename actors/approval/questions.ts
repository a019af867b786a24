/** Questions of a running tool to a person (`ask_user`, an MCP elicitation): items of their own kind with the same life, answered in words. */
import type { Decider, DecisionBody, QuestionRaise } from "../protocol/approval.ts";
import type { Draft } from "./draft.ts";
import { isWithdrawn } from "./endings.ts";
import { itemOfCall, openItem, settleItem } from "./items.ts";
import { conversationId, originOf } from "./origin.ts";
import type { OpenItem } from "./state.ts";

/** Raises a question. */
export function onQuestion(draft: Draft, payload: QuestionRaise): void {
  const conversation = conversationId(payload.conversation);
  if (isWithdrawn(draft, payload.callId, conversation)) {
    return draft.tell("toolbox", "question.answered", { callId: payload.callId, outcome: "cancelled" });
  }
  if (itemOfCall(draft, payload.callId)) return;
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
    question: { text: payload.question, suggestions: payload.suggestions, sealTo: payload.sealTo },
    createdAt: draft.env.now,
    expiresAt: draft.env.now + seconds * 1000,
  }, { fixed: payload.expiresInSeconds !== undefined });
}

/** Hands a person's answer, or their refusal, to the tool that asked. `cancel` stops the turn as well. */
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
  settleItem(draft, item, "applied", { decision: { decision: body.decision, by: by.name } });
}
