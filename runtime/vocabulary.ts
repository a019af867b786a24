/**
 * What the runtime must be told about the product's messages, operations and reads. The composition root makes these from the catalogues; the
 * runtime itself imports none of them. Three message types are the runtime's own: `actor.woke`, `request.failed`, and whatever goes to
 * `supervisor`.
 */
import type { Result } from "../lib/result.ts";
import type { Db, Rows, Statement } from "../store/db.ts";
import type { OpContext } from "../store/op.ts";
import type { AnyOp } from "./actor.ts";

/** A message type's lane and durability, and the parsed payload to send. */
export interface CheckedSend {
  readonly lane: "control" | "normal";
  readonly durable: boolean;
  readonly payload: unknown;
}

/** The message catalogue. */
export interface Vocabulary {
  /** The kind of the actor that a ref names, or undefined. */
  kindOf(ref: string): string | undefined;
  /** Decides whether `from` may send this and parses the payload. */
  check(from: string, outgoing: { to: string; type: string; payload: unknown }): Result<CheckedSend>;
  /** Whether a refused or dead-lettered message of this type is answered with `request.failed`. */
  isRequest(type: string): boolean;
  /** True for an actor that this installation does without; what others send to it is dropped. Default: none is. */
  isAbsent?(ref: string): boolean;
  /** The ordering key of a message to a gateway, by which its mailbox is bounded. Default: the sender. */
  keyOf?(message: { type: string; payload: unknown; from: string }): string | undefined;
}

/** Turns an actor's operation into statements. */
export type OpStatements = (op: AnyOp, context: OpContext) => Result<Statement[]>;

/** Answers a gateway's named question; rejects when it may not ask it. */
export type RunRead = (ref: string, kind: string, name: string, input: unknown) => Promise<unknown>;

/** What a commit came to; `rows` has one entry per statement, or is empty of rows when `recovered`. */
export type StoreCommit =
  | { readonly ok: true; readonly rows: readonly Rows[]; readonly recovered?: boolean }
  | {
    readonly ok: false;
    readonly error: { readonly code: string; readonly message: string; readonly retry: boolean };
  };

/** The database as the runtime uses it: reads, and group-committed writes. */
export interface CommitStore extends Db {
  commit(member: { readonly id: string; readonly statements: readonly Statement[] }): Promise<StoreCommit>;
}

/** One kind of actor. */
export type KindSpec = PureKind | GatewayKind;

/** A kind whose actors decide. `entry` is the absolute path of its bundle. */
export interface PureKind {
  readonly kind: string;
  readonly mode: "pure";
  readonly entry: string;
  /** `core`: one actor whose ref is the kind, always live. `shared`: many, asleep when idle. */
  readonly placement: "core" | "shared";
  /** Kinds of gateways that its actors are about to need when they wake: those on demand are started then. */
  readonly uses?: readonly string[];
}

/** A kind with one actor that acts, in a process of its own. */
export interface GatewayKind {
  readonly kind: string;
  readonly mode: "gateway";
  /** Absolute path of the module that calls `runGateway`. */
  readonly entry: string;
  /** Deno permission flags, for example `["--allow-net=api.example.com"]`. */
  readonly flags: readonly string[];
  /** Configuration and secrets for its start message; asked for at each start. */
  readonly config?: () => unknown;
  /** Variables of its otherwise empty environment. */
  readonly env?: Readonly<Record<string, string>>;
  /** When its process runs. `boot` (default): always. `demand`: from its first mail, or from when an actor that uses it wakes, until it was idle. */
  readonly start?: "boot" | "demand";
  /**
   * For one on demand that says at each start what it offers: it is also started once with the runtime, and sleeps again when it has spoken. `now`:
   * nothing works without it. `soon`: a moment later, because what it said last time will do until then.
   */
  readonly introduce?: "now" | "soon";
}
