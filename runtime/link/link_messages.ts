/**
 * What is said on a link, as JSON texts: between the supervisor and a host process (slot 0), a pure Worker (its slot) or a gateway (slot 1).
 * Only types and the two guards that turn a text back into one. Texts of Workers are hostile until they are checked here.
 */
import type { AnyOp, Event, Send } from "../actor.ts";

/** The slot of a gateway in its own process. */
export const GATEWAY_SLOT = 1;

/** To a pure host, slot 0. */
export type ToHost =
  | { readonly t: "spawn"; readonly slot: number; readonly url: string }
  | { readonly t: "end"; readonly slot: number };

/** From a pure host, slot 0. `rss` in bytes, told between two beats when it grows fast. `ended` answers `end`, once the Worker is gone. */
export type FromHost =
  | { readonly t: "up" }
  | { readonly t: "beat"; readonly rss: number }
  | { readonly t: "rss"; readonly rss: number }
  | { readonly t: "ended"; readonly slot: number }
  | { readonly t: "error"; readonly slot: number; readonly detail: string };

/** To a pure Worker. Messages travel as envelopes. */
export type ToWorker =
  | {
    readonly t: "start";
    readonly ref: string;
    readonly incarnation: number;
    readonly loaded: unknown;
    readonly woke: unknown;
    /** What is delivered with the start. */
    readonly messages: readonly unknown[];
  }
  | { readonly t: "deliver"; readonly messages: readonly unknown[] };

/** A line for the log. */
export interface LogLine {
  readonly t: "log";
  readonly level: LogLevel;
  readonly text: string;
  readonly facts?: Readonly<Record<string, unknown>>;
}

/** How much a log line matters. */
export type LogLevel = "debug" | "info" | "warn" | "error";

/** What was decided about the message `id`. */
export interface WorkerCommit {
  readonly id: string;
  readonly events?: readonly Event[];
  readonly send?: readonly Send[];
  readonly ops?: readonly AnyOp[];
}

/** From a pure Worker. `commit` answers one message, `commits` several, in the order of their delivery. */
export type FromWorker =
  | { readonly t: "ready" }
  | { readonly t: "beat" }
  /** Used by its isolate; only shown. */
  | { readonly t: "heap"; readonly bytes: number }
  | { readonly t: "bye" }
  | ({ readonly t: "commit" } & WorkerCommit)
  | { readonly t: "commits"; readonly commits: readonly WorkerCommit[] }
  | LogLine;

/** Operations and messages of a gateway's commit. */
export interface WireEffects {
  readonly ops?: readonly AnyOp[];
  readonly send?: readonly Send[];
}

/** To a gateway. `until` is a wall-clock time and `ms` the same as a duration: the earlier of both is its deadline. */
export type ToGateway =
  | { readonly t: "start"; readonly ref: string; readonly config: unknown; readonly lease: LeaseTime }
  | { readonly t: "deliver"; readonly messages: readonly WireDelivery[] }
  | { readonly t: "ephemeral"; readonly message: unknown }
  | {
    readonly t: "answer";
    readonly n: number;
    readonly ok: boolean;
    readonly value?: unknown;
    readonly error?: { code: string; message: string };
  }
  | { readonly t: "lease"; readonly lease: LeaseTime }
  | { readonly t: "withdraw"; readonly id: string }
  | { readonly t: "stop"; readonly graceMs: number };

/** How long effects may begin: milliseconds from receipt, and wall-clock milliseconds since the epoch. */
export interface LeaseTime {
  readonly ms: number;
  readonly until: number;
}

/** A message in a gateway's hands. */
export interface WireDelivery {
  readonly message: unknown;
  readonly resumed: boolean;
  readonly intent: unknown;
}

/** From a gateway. `n` numbers what wants an answer. `up`: its `start` has resolved, and what that had to commit was said before. */
export type FromGateway =
  | { readonly t: "ready" }
  | { readonly t: "up" }
  | { readonly t: "beat"; readonly heapBytes?: number }
  | (
    & { readonly t: "started"; readonly n: number; readonly id: string; readonly intent: unknown }
    & WireEffects
  )
  | ({ readonly t: "done"; readonly id: string } & WireEffects)
  | ({ readonly t: "commit"; readonly n: number } & WireEffects)
  | { readonly t: "emit"; readonly send: Send }
  | { readonly t: "read"; readonly n: number; readonly name: string; readonly input: unknown }
  | { readonly t: "crash"; readonly id?: string; readonly detail: string }
  | LogLine;

/** Parses a text of a Worker; undefined when it is none of `FromWorker`. */
export function readWorker(text: string): FromWorker | undefined {
  const value = parse(text);
  if (!value) return undefined;
  switch (value["t"]) {
    case "ready":
    case "beat":
    case "bye":
      return { t: value["t"] };
    case "heap":
      return Number.isSafeInteger(value["bytes"]) ? { t: "heap", bytes: Number(value["bytes"]) } : undefined;
    case "commit":
      return isCommit(value) ? { ...value, t: "commit" } : undefined;
    case "commits":
      return readCommits(value["commits"]);
    case "log":
      return readLog(value);
    default:
      return undefined;
  }
}

/** Parses a text of our own process (a host's main isolate or a gateway), which the MAC has proven. */
export function readTrusted<T>(text: string): T {
  return JSON.parse(text) as T; // the MAC proves that our own code wrote it
}

function parse(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function readCommits(commits: unknown): FromWorker | undefined {
  return Array.isArray(commits) && commits.every(isCommit) ? { t: "commits", commits } : undefined;
}

function isCommit(value: unknown): value is WorkerCommit {
  return isRecord(value) && typeof value["id"] === "string" && areEvents(value["events"]) &&
    areEffects(value);
}

function areEvents(value: unknown): boolean {
  return value === undefined ||
    Array.isArray(value) &&
      value.every((event) =>
        isRecord(event) && Number.isSafeInteger(event["seq"]) && typeof event["type"] === "string" &&
        Number.isSafeInteger(event["at"]) && "payload" in event
      );
}

function areEffects(value: Record<string, unknown>): boolean {
  const { send, ops } = value;
  return (send === undefined || Array.isArray(send) && send.every(isSend)) &&
    (ops === undefined || Array.isArray(ops) && ops.every(isRecord));
}

function isSend(value: unknown): boolean {
  return isRecord(value) && typeof value["to"] === "string" && typeof value["type"] === "string" &&
    isOptional(value["notBefore"], Number.isSafeInteger) && isOptional(value["dedupe"], isText) &&
    isOptional(value["replaces"], isText);
}

function isOptional(value: unknown, check: (value: unknown) => boolean): boolean {
  return value === undefined || check(value);
}

function isText(value: unknown): boolean {
  return typeof value === "string";
}

const levels: readonly LogLevel[] = ["debug", "info", "warn", "error"];

function readLog(value: Record<string, unknown>): LogLine | undefined {
  const level = levels.find((name) => name === value["level"]);
  if (!level || typeof value["text"] !== "string") return undefined;
  const facts = isRecord(value["facts"]) ? { facts: value["facts"] } : {};
  return { t: "log", level, text: value["text"].slice(0, 10_000), ...facts };
}
