/**
 * How a message type is declared: its payload, who may say it to whom, its lane, whether it is a row before delivery, and what a gateway
 * may do when it finds it half done after a crash. The declarations themselves are in the files beside this one.
 */
import type * as z from "zod";

/** The kinds of actor, plus the two senders that are none. */
export const actorKinds = [
  "conversation",
  "approval",
  "scheduler",
  "zulip",
  "models",
  "toolbox",
  "agents",
  "push",
  "supervisor",
  "edge",
] as const;

/** One of `actorKinds`. */
export type ActorKind = (typeof actorKinds)[number];

/** `control` overtakes `normal`; within a lane a mailbox is first come, first served. */
export type Lane = "control" | "normal";

/**
 * What a redelivered message with `resumed: true` means to a gateway: `repeat` it (a read, a model step), `settle` it (look whether the
 * effect happened before acting), or answer that its outcome is `unknown`.
 */
export type Recovery = "repeat" | "settle" | "unknown";

/** One message type. */
export interface MessageSpec<Schema extends z.ZodType = z.ZodType> {
  readonly payload: Schema;
  readonly from: readonly ActorKind[];
  readonly to: readonly ActorKind[];
  readonly lane: Lane;
  /** False: never a row, may be dropped under load (deltas, progress). */
  readonly durable: boolean;
  /** Set for messages that a gateway handles with an effect. */
  readonly recovery?: Recovery;
  /** True for requests: a refused or dead-lettered one is answered with `request.failed`. */
  readonly request?: boolean;
}

/** Declares a durable message of the normal lane unless `options` says otherwise. */
export function message<Schema extends z.ZodType>(
  from: readonly ActorKind[],
  to: readonly ActorKind[],
  payload: Schema,
  options: Partial<Pick<MessageSpec, "lane" | "durable" | "recovery" | "request">> = {},
): MessageSpec<Schema> {
  return { payload, from, to, lane: "normal", durable: true, ...options };
}
