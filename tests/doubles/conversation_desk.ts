/**
 * A conversation on a desk: delivers messages to the real actor one by one, keeps its log as JSON (as the store would) and its sends, and
 * holds everything that leaves it to the catalogue and to the operations. `restart()` rebuilds the state from the log.
 */
import assert from "node:assert/strict";
import { conversation } from "../../actors/conversation/conversation.ts";
import { type ConversationState, noLive } from "../../actors/conversation/state.ts";
import { checkSend, type MessageType, type PayloadOf } from "../../actors/protocol.ts";
import type {
  ConversationEvent,
  ConversationEventType,
  EventPayloads,
} from "../../lib/conversation_event.ts";
import type { AnyOp, Decision, Send } from "../../runtime/actor.ts";
import { opStatements } from "../../store/ops.ts";

/** Who asks for things in tests. */
export const ada = { kind: "zulip", id: "7", name: "Ada" } as const;

/** A Zulip topic. */
export const topic = { kind: "zulip", realm: "https://z.example", channelId: 3, topic: "deploys" } as const;

/** Tokens of one test step. */
export const usage = {
  inputTokens: 10,
  outputTokens: 5,
  cacheReadTokens: 1,
  cacheWriteTokens: 2,
  costUsd: 0.5,
};

/** One send of a known type. */
export type SentOf<T extends MessageType> = Send & { readonly type: T; readonly payload: PayloadOf<T> };

/** A tool by name. */
export interface TestTool {
  readonly name: string;
  readonly parallel?: boolean;
}

/** The actor under test with its surroundings. */
export class Desk {
  readonly ref = "conversation/c1";
  state: ConversationState;
  now = 1_700_000_000_000;
  status = "idle";
  readonly log: string[] = [];
  readonly sent: Send[] = [];
  readonly ops: AnyOp[] = [];
  #ids = 0;

  constructor(readonly model = "acme/large") {
    this.state = conversation.restore({ row: null, events: [], defaults: { model } }, this.ref);
  }

  /** Delivers a message and keeps what came of it. */
  deliver<T extends MessageType>(
    type: T,
    payload: PayloadOf<T>,
    id = `m${++this.#ids}`,
  ): Decision<ConversationState> {
    const envelope = {
      id,
      v: 1,
      to: this.ref,
      from: "supervisor",
      type,
      payload,
      lane: "normal",
      durable: true,
      at: this.now,
    } as const;
    const decision = conversation.decide(this.state, envelope, {
      now: this.now,
      newId: () => `n${++this.#ids}`,
    });
    this.state = decision.state;
    for (const event of decision.events ?? []) this.log.push(JSON.stringify(event));
    for (const send of decision.send ?? []) this.#keep(send);
    for (const op of decision.ops ?? []) this.#apply(op);
    return decision;
  }

  #keep(send: Send): void {
    const checked = checkSend(this.ref, send);
    assert.ok(checked.ok, checked.ok ? "" : checked.error.message);
    this.sent.push({ ...send, payload: checked.value.payload });
  }

  #apply(op: AnyOp): void {
    const statements = opStatements(op, { ref: this.ref, kind: "conversation", id: "c1", now: this.now });
    assert.ok(statements.ok, statements.ok ? "" : statements.error.message);
    if ("status" in op) this.status = String(op.status);
    this.ops.push(op);
  }

  /** The log so far, as a reader of the store sees it. */
  get events(): ConversationEvent[] {
    return this.log.map((line) => JSON.parse(line));
  }

  /** Payloads of the events of one type. */
  logged<T extends ConversationEventType>(type: T): EventPayloads[T][] {
    // The filter leaves only this type's events.
    return this.events.filter((event) => event.type === type).map((event) =>
      event.payload as EventPayloads[T]
    );
  }

  /** All sends of one type. */
  sentOf<T extends MessageType>(type: T): SentOf<T>[] {
    return this.sent.filter((send) => send.type === type) as SentOf<T>[]; // the filter leaves only this type's sends
  }

  /** The latest send of a type. */
  last<T extends MessageType>(type: T): SentOf<T> {
    const send = this.sentOf(type).at(-1);
    assert.ok(send, `nothing was sent as ${type}`);
    return send;
  }

  /** What a new incarnation would know. */
  restored(): ConversationState {
    return conversation.restore(
      { row: { status: this.status }, events: this.events, defaults: { model: this.model } },
      this.ref,
    );
  }

  /** The actor dies and wakes. */
  restart(crashes = 0): void {
    this.state = this.restored();
    this.deliver("actor.woke", { incarnation: 2, crashes });
  }

  /** A person writes. */
  say(text: string, options: Partial<PayloadOf<"conversation.message">> = {}, id?: string): void {
    this.deliver("conversation.message", {
      text,
      author: ada,
      mode: "queue",
      source: topic,
      addressed: true,
      ...options,
    }, id);
  }

  /** Approval says what the conversation's profile gives to the turn. */
  given(given: { model?: string; instructions?: string }): void {
    const { turnId } = this.last("tools.list").payload;
    this.deliver("tools.listed", { turnId, tools: [], ...given });
  }

  /** Approval says which tools there are. */
  tools(...tools: TestTool[]): void {
    const { turnId } = this.last("tools.list").payload;
    this.deliver("tools.listed", {
      turnId,
      tools: tools.map(({ name, parallel = false }) => ({ name, description: "", parameters: {}, parallel })),
    });
  }

  /** The model answers the latest request. */
  finish(
    items: PayloadOf<"model.finished">["items"],
    stopReason: PayloadOf<"model.finished">["stopReason"] = "stop",
  ): void {
    const { turnId, step, attempt, model } = this.last("model.stream").payload;
    this.deliver("model.finished", { turnId, step, attempt, model, items, usage, stopReason });
  }

  /** The latest request fails. */
  fail(
    error: PayloadOf<"model.failed">["error"],
    items: PayloadOf<"model.failed">["items"] = [],
  ): void {
    const { turnId, step, attempt } = this.last("model.stream").payload;
    this.deliver("model.failed", { turnId, step, attempt, error, items });
  }

  /** A call ends. */
  result(callId: string, options: Partial<PayloadOf<"tool.result">> = {}): void {
    this.deliver("tool.result", { callId, outcome: "finished", text: "done", stopTurn: false, ...options });
  }
}

/** Everything that must survive a restart, in a form that can be compared. */
export function durable(state: ConversationState): unknown {
  return JSON.parse(JSON.stringify({ ...state, live: noLive, profile: undefined }));
}

/** A model's words. */
export function text(words: string) {
  return { type: "assistant", text: words } as const;
}

/** A model's call. */
export function call(name: string, args = "{}", callId = "call_0") {
  return { type: "tool_call", callId, name, arguments: args } as const;
}

/** A desk whose turn `t1` has just asked its model. */
export function asking(tools: TestTool[] = [{ name: "exec_command" }], desk = new Desk()): Desk {
  desk.say("deploy it", { messageId: 42 }, "t1");
  desk.tools(...tools);
  return desk;
}
