/**
 * The one catalogue of messages: every type, its payload schema, and who may say it to whom. The supervisor parses each message against it
 * once, refuses what the table does not allow, and everything behind that trusts the types. An unknown `type` or `v` is a typed refusal,
 * never an exception. It knows nothing of rows, frames or Workers. Proven by `protocol_test.ts`.
 */
import * as z from "zod";
import { fail, ok, type Result } from "../lib/result.ts";
import { approvalMessages } from "./protocol/approval.ts";
import { conversationMessages } from "./protocol/conversation.ts";
import { type ActorKind, actorKinds, type Lane, type MessageSpec } from "./protocol/define.ts";
import { liveMessages } from "./protocol/live.ts";
import { markMessages } from "./protocol/marks.ts";
import { modelMessages } from "./protocol/models.ts";
import { peopleMessages } from "./protocol/people.ts";
import { pushMessages } from "./protocol/push.ts";
import { schedulerMessages } from "./protocol/scheduler.ts";
import { toolMessages } from "./protocol/tools.ts";
import { zulipMessages } from "./protocol/zulip.ts";

/** Every message type. */
export const catalogue = {
  ...conversationMessages,
  ...modelMessages,
  ...toolMessages,
  ...approvalMessages,
  ...markMessages,
  ...peopleMessages,
  ...pushMessages,
  ...schedulerMessages,
  ...zulipMessages,
  ...liveMessages,
} as const;

/** The name of a message type. */
export type MessageType = keyof typeof catalogue;

/** The parsed payload of one type. */
export type PayloadOf<T extends MessageType> = z.output<(typeof catalogue)[T]["payload"]>;

/** A message as everybody sees it. `id` is a UUIDv7, `at` milliseconds since the epoch. */
export const Envelope = z.object({
  id: z.string(),
  v: z.literal(1),
  to: z.string(),
  from: z.string(),
  type: z.string(),
  payload: z.unknown(),
  cause: z.string().optional(),
  lane: z.enum(["control", "normal"]),
  durable: z.boolean(),
  traceparent: z.string().optional(),
  at: z.int(),
});
export type Envelope = z.infer<typeof Envelope>;

/** An envelope whose payload was parsed against the catalogue: discriminated on `type`. */
export type Message = {
  [T in MessageType]: Omit<Envelope, "type" | "payload"> & { type: T; payload: PayloadOf<T> };
}[MessageType];

/** The kind of the actor that a ref names: `conversation/018f…` → `conversation`. Undefined for anything else. */
export function kindOf(ref: string): ActorKind | undefined {
  const [kind, id, ...rest] = ref.split("/");
  const known = actorKinds.find((name) => name === kind);
  if (!known || rest.length > 0) return undefined;
  if (known === "conversation") return id && /^[A-Za-z0-9_-]{1,64}$/.test(id) ? known : undefined;
  return id === undefined ? known : undefined;
}

/** What the catalogue says of a type, or undefined for an unknown one. */
export function specOf(type: string): MessageSpec | undefined {
  return Object.hasOwn(catalogue, type) ? catalogue[type as MessageType] : undefined; // hasOwn has just shown it
}

/** A message that somebody wants to send; the sender is stamped by who carried it, never read from it. */
export interface Outgoing {
  readonly to: string;
  readonly type: string;
  readonly payload: unknown;
}

/** What `checkSend` found: the lane, durability and parsed payload to send with. */
export interface Checked {
  readonly lane: Lane;
  readonly durable: boolean;
  readonly payload: unknown;
}

/**
 * Decides whether `from` may send this, and parses its payload. Refusals: `unknown_type` (type or receiver), `not_allowed` (the table),
 * `bad_request` (payload; the message names the field, never its value).
 */
export function checkSend(from: string, outgoing: Outgoing): Result<Checked> {
  const spec = specOf(outgoing.type);
  if (!spec) return fail("unknown_type", `message type "${outgoing.type}" is not in the catalogue`);
  const receiver = kindOf(outgoing.to);
  if (!receiver) return fail("unknown_type", `"${outgoing.to}" names no actor`);
  const sender = kindOf(from);
  if (!sender || !spec.from.includes(sender) || !spec.to.includes(receiver)) {
    return fail("not_allowed", `${from} may not send "${outgoing.type}" to ${outgoing.to}`);
  }
  const parsed = spec.payload.safeParse(outgoing.payload);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    return fail(
      "bad_request",
      `"${outgoing.type}": ${issue?.path.join(".") ?? ""}: ${issue?.message ?? "not valid"}`,
    );
  }
  return ok({ lane: spec.lane, durable: spec.durable, payload: parsed.data });
}
