/**
 * What an actor is, seen from the code that implements one. Pure actors decide; gateways act. This file knows nothing of processes,
 * frames or rows: `runtime/pure_worker.ts` and `runtime/gateway_host.ts` run what is written to these interfaces, and the supervisor's
 * half of the runtime commits what they return.
 */

/** A delivered message. Pure actors and gateways narrow it to their own union (`Message` of `actors/protocol.ts`). */
export interface Envelope {
  readonly id: string;
  readonly v: 1;
  readonly to: string;
  readonly from: string;
  readonly type: string;
  readonly payload: unknown;
  readonly cause?: string | undefined;
  readonly lane: "control" | "normal";
  readonly durable: boolean;
  readonly traceparent?: string | undefined;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** A message to send. The sender is stamped by the supervisor; lane and durability come from the catalogue. */
export interface Send {
  readonly to: string;
  readonly type: string;
  readonly payload: unknown;
  /** Milliseconds since the epoch: not delivered before. */
  readonly notBefore?: number;
  /** A second message with this text is never inserted. */
  readonly dedupe?: string;
  /** Replaces the receiver's queued message that named the same text. */
  readonly replaces?: string;
}

/** A fact for the actor's event log. `seq` is given by the actor itself, rising by one from 1; a gap or a repeat fails the commit. */
export interface Event {
  readonly seq: number;
  readonly type: string;
  readonly payload: unknown;
  readonly at: number;
}

/** An operation of the closed catalogue (`Op` of `store/ops.ts`). */
export interface AnyOp {
  readonly op: string;
}

/** What a pure actor's handler gives back; all of it commits together with the message's `done`. */
export interface Decision<State> {
  readonly state: State;
  readonly events?: readonly Event[];
  readonly send?: readonly Send[];
  readonly ops?: readonly AnyOp[];
}

/** What a handler may know besides its state and message. */
export interface Env {
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** A fresh UUIDv7. */
  newId(): string;
}

/**
 * A pure actor. `decide` is synchronous and has no effects: redelivering the same message to the same state is safe because its commit is
 * refused by the `done` mark. A throw is a crash: the supervisor restarts the actor from its rows and tries the message again.
 */
export interface PureActor<State> {
  /** Builds the state from what `store/loads.ts` read; `ref` is the actor's own. */
  restore(loaded: unknown, ref: string): State;
  decide(state: State, message: Envelope, env: Env): Decision<State>;
}

/** What a gateway's commit carries. */
export interface Effects {
  readonly ops?: readonly AnyOp[];
  readonly send?: readonly Send[];
}

/** A commit's outcome as a gateway sees it. `guard_failed`: a condition did not hold, nothing was written. */
export type Committed = { readonly ok: true } | {
  readonly ok: false;
  readonly error: { readonly code: string; readonly message: string };
};

/** One message in a gateway's hands. */
export interface Delivery {
  readonly message: Envelope;
  /** True when an earlier incarnation had committed `started` and no `done`; `intent` is what it had noted. */
  readonly resumed: boolean;
  readonly intent: unknown;
  /** Aborted when the message is withdrawn or the gateway must stop. */
  readonly signal: AbortSignal;
  /**
   * Commits `started` (with an intent and operations) before the world is touched. Resolves when it is on disk; a failed guard means that the
   * effect must not happen. A second call adds a newer intent.
   */
  started(intent: unknown, effects?: Effects): Promise<Committed>;
}

/** What a gateway may use. */
export interface GatewayContext {
  readonly ref: string;
  /** The start message's configuration and secrets, as the composition root made it. */
  readonly config: unknown;
  now(): number;
  newId(): string;
  /** A commit that belongs to no message: an event from outside. Resolves when it is on disk. */
  commit(effects: Effects): Promise<Committed>;
  /** Sends an ephemeral message; it may be dropped. */
  emit(send: Send): void;
  /** Asks a named question of the database (`store/reads.ts`). Rejects when it is not allowed. */
  read(name: string, input: unknown): Promise<unknown>;
  /** False after the supervisor's lease may have passed to another: no effect may begin. */
  mayAct(): boolean;
  /** Aborted when the gateway must stop (shutdown, lost lease). */
  readonly signal: AbortSignal;
  log(
    level: "debug" | "info" | "warn" | "error",
    text: string,
    facts?: Readonly<Record<string, unknown>>,
  ): void;
}

/**
 * A gateway actor. `handle` resolves with the effects that commit together with the message's `done`; a rejection is a crash of the gateway's
 * process. Messages of one `key` are handled one at a time, in order; different keys concurrently. Control-lane messages do not wait for their key.
 */
export interface Gateway {
  /** Called once with the context, before any message. Long-running loops start here and end with `context.signal`. */
  start(context: GatewayContext): Promise<void>;
  /** The ordering key of a message, normally the conversation. */
  keyOf(message: Envelope): string;
  handle(delivery: Delivery): Promise<Effects | void>;
  /** Ephemeral messages (progress); must not throw and must not commit. */
  ephemeral?(message: Envelope): void;
  /** Last clean-up before the process ends; bounded to 2 s. */
  stop?(): Promise<void>;
}
