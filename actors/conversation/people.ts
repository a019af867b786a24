/**
 * What people ask of a conversation: to answer, to stop, to start afresh, to use another model. Words are put into a bounded, durable queue
 * first and never lost from there: each becomes exactly one `user_message`, of its own turn or of the running one.
 */
import type { EventInput, EventSource } from "../../lib/conversation_event.ts";
import type { PayloadOf } from "../protocol.ts";
import type { Draft } from "./draft.ts";
import type { ConversationState } from "./state.ts";
import { abortTurn, oneLine } from "./turn.ts";

/** Inputs that may wait. */
export const MAX_QUEUE = 100;

/** Words arrive. `id` is the message's. */
export function onMessage(draft: Draft, message: PayloadOf<"conversation.message">, id: string): void {
  if (isKnown(draft.state, id)) return;
  configure(draft, message);
  if (draft.state.queue.length >= MAX_QUEUE) return refuse(draft, id);
  const input: EventInput = {
    id,
    text: message.text,
    author: message.author,
    mode: message.mode,
    addressed: message.addressed,
    triggerId: message.messageId,
  };
  draft.emit("input_queued", input);
  const turn = draft.state.turn;
  if (turn && message.mode === "start") {
    abortTurn(draft, turn, { reason: "replaced", by: message.author.name });
  }
}

/** A person stops the running turn; what waits in the queue runs. */
export function onStop(draft: Draft, stop: PayloadOf<"conversation.stop">): void {
  const turn = draft.state.turn;
  if (!turn || (stop.turnId !== undefined && stop.turnId !== turn.id)) return;
  abortTurn(draft, turn, { reason: "interrupted", by: stop.by.name });
  draft.send("approval", "session.ended", { reason: "stop" });
}

/** A person starts afresh: later steps begin with an empty history. */
export function onReset(draft: Draft, reset: PayloadOf<"conversation.reset">): void {
  if (!draft.state.session) return;
  if (draft.state.turn) abortTurn(draft, draft.state.turn, { reason: "interrupted", by: reset.by.name });
  draft.emit("session_reset", { by: reset.by.name });
  draft.send("approval", "session.ended", { reason: "reset" });
}

/** Counts from the next turn. */
export function onSetModel(draft: Draft, choice: PayloadOf<"conversation.set_model">): void {
  if (draft.state.model === choice.model) return;
  draft.emit("model_set", { model: choice.model, by: choice.by.name });
  draft.row({ model: choice.model });
}

/** The first message says what the conversation is; a later one of the same kind may give it another title. */
function configure(draft: Draft, message: PayloadOf<"conversation.message">): void {
  const { session, model } = draft.state;
  if (!session) {
    const title = message.title ?? oneLine(message.text, 80);
    draft.emit("session_configured", { title, source: message.source });
    draft.op({ op: "conversation.put", title, ...rowSource(message.source) });
    if (model !== undefined) draft.row({ model });
  } else if (
    message.title !== undefined && message.title !== session.title &&
    message.source.kind === session.source.kind
  ) {
    draft.emit("session_configured", { title: message.title, source: session.source });
    draft.row({ title: message.title });
  }
}

function rowSource(
  source: EventSource,
): { source: "web" | "channel" | "dm"; channelId?: number | undefined } {
  if (source.kind === "web") return { source: "web" };
  return source.channelId === undefined
    ? { source: "dm" }
    : { source: "channel", channelId: source.channelId };
}

function refuse(draft: Draft, id: string): void {
  const text =
    `${MAX_QUEUE} messages are waiting here already; this one was not taken. Please send it again later.`;
  draft.emit("warning", { code: "queue_full", message: text });
  if (draft.state.session?.source.kind === "zulip") {
    const conversation = draft.state.id;
    draft.send("zulip", "topic.note", { conversation, key: `queue_full/${id}`, text });
  }
}

/** A redelivered message is refused by its `done` mark; this is the second lock on that door. */
function isKnown(state: ConversationState, id: string): boolean {
  return state.turn?.id === id || state.queue.some((input) => input.id === id) ||
    state.history.some((entry) => entry.kind === "user" && entry.inputId === id);
}
