/**
 * Turns what an actor's handler gave back into statements: the mark of its message, its events, its operations, the messages it sends. The
 * sender of each message is the actor that the frame came from. What the catalogue or a full mailbox refuses becomes a `request.failed` to
 * the sender in the same commit; a refused operation refuses the whole. It runs nothing. Proven by `commit_builder_test.ts`.
 */
import { fail, ok, type Result } from "../../lib/result.ts";
import { sql, type Statement } from "../../store/db.ts";
import { insertMessage } from "../../store/mail.ts";
import type { AnyOp, Event, Send } from "../actor.ts";
import type { Tracing } from "../tracing.ts";
import type { CheckedSend, OpStatements, Vocabulary } from "../vocabulary.ts";
import { type Built, Draft, type EventRow, type Outgoing } from "./built.ts";

/** Whose commit it is. */
export interface Author {
  readonly ref: string;
  readonly kind: string;
  /** The message that was handled. */
  readonly cause?: { readonly id: string; readonly traceparent?: string | null | undefined } | undefined;
}

/** What an actor wants committed. */
export interface Effects {
  readonly events?: readonly Event[] | undefined;
  readonly send?: readonly Send[] | undefined;
  readonly ops?: readonly AnyOp[] | undefined;
}

/** What building needs. */
export interface BuilderOptions {
  readonly vocabulary: Vocabulary;
  readonly opStatements: OpStatements;
  readonly now: () => number;
  readonly newId: () => string;
  /** Takes one place in the receiver's mailbox for a normal message with this key; false when it is full. */
  readonly reserve: (to: string, key: string) => boolean;
  readonly tracing?: Pick<Tracing, "within" | "send"> | undefined;
}

/** Marks a message started, with the gateway's intent. */
export function startedMark(
  id: string,
  options: { now: number; incarnation: number; intent: unknown },
): Statement {
  return {
    ...sql(
      `UPDATE messages SET state = CASE WHEN state IN ('queued', 'started') THEN 'started' END,
       started_at = coalesce(started_at, ?), started_incarnation = ?, intent = ? WHERE id = ?`,
      options.now,
      options.incarnation,
      JSON.stringify(options.intent ?? null),
      id,
    ),
    label: "message still open",
  };
}

/** What a commit does besides its effects. */
export interface BuildOptions {
  /** The message that is done with it. */
  readonly done?: string | undefined;
  readonly marks?: readonly Statement[] | undefined;
  readonly checkEvents?: boolean | undefined;
}

const EDGE = "edge";

/** Builds commits. */
export class CommitBuilder {
  readonly #options: BuilderOptions;

  constructor(options: BuilderOptions) {
    this.#options = options;
  }

  /** `checkEvents`: the first commit of an incarnation proves that its events follow the stored ones. */
  build(author: Author, effects: Effects, options: BuildOptions = {}): Result<Built> {
    const now = this.#options.now();
    const draft = new Draft(options.marks ?? []);
    if (options.done !== undefined) draft.done.push(options.done);
    if (effects.events?.length) {
      const rows = effects.events.map(({ seq, type, payload, at }): EventRow => [
        seq,
        type,
        JSON.stringify(payload ?? null),
        at,
      ]);
      draft.events = { ref: author.ref, check: options.checkEvents ?? false, rows };
    }
    const context = { ref: author.ref, kind: author.kind, id: idOf(author.ref), now };
    for (const op of effects.ops ?? []) {
      const statements = this.#options.opStatements(op, context);
      if (!statements.ok) return statements;
      draft.statements.push(...statements.value);
    }
    for (const send of effects.send ?? []) this.#addSend(draft, author, send, now);
    return ok(draft);
  }

  /** The statements and mail of one message from the supervisor. */
  buildSupervisorSend(send: Send, cause?: Author["cause"]): Result<Built> {
    const author: Author = { ref: "supervisor", kind: "supervisor", cause };
    const checked = this.#options.vocabulary.check("supervisor", send);
    if (!checked.ok) return checked;
    const { durable, lane } = checked.value;
    if (durable && lane === "normal" && !this.#reserve(send, this.#keyOf("supervisor", send))) {
      return fail("mailbox_full", `the mailbox of ${send.to} is full`, true);
    }
    const draft = new Draft([]);
    this.#insert(draft, author, send, checked.value, this.#options.now());
    return ok(draft);
  }

  /** `request.failed` for a message of `from`, or nothing when its sender takes none. */
  buildFailure(
    request: { id: string; type: string; from: string; payload: unknown },
    error: { code: string; message: string },
  ): Built {
    const draft = new Draft([]);
    this.#addFailure(draft, request, error, this.#options.now());
    return draft;
  }

  #addSend(draft: Draft, author: Author, send: Send, now: number): void {
    const checked = this.#options.vocabulary.check(author.ref, send);
    if (!checked.ok) return this.#refuse(draft, author, send, checked.error);
    if (this.#options.vocabulary.isAbsent?.(send.to)) return;
    const key = this.#keyOf(author.ref, send);
    if (checked.value.durable && checked.value.lane === "normal" && !this.#reserve(send, key)) {
      return this.#refuse(draft, author, send, {
        code: "mailbox_full",
        message: `the mailbox of ${send.to} is full`,
      });
    }
    this.#insert(draft, author, send, checked.value, now);
  }

  #refuse(draft: Draft, author: Author, send: Send, error: { code: string; message: string }): void {
    const { to, type, payload } = send;
    draft.refused.push({ from: author.ref, to, type, code: error.code, message: error.message });
    const request = { id: this.#options.newId(), type, from: author.ref, payload };
    this.#addFailure(draft, request, error, this.#options.now());
  }

  #addFailure(
    draft: Draft,
    request: { id: string; type: string; from: string; payload: unknown },
    error: { code: string; message: string },
    now: number,
  ): void {
    const payload = {
      request: request.id,
      type: request.type,
      code: error.code,
      message: error.message,
      ...idsOf(request.payload),
    };
    const send: Send = { to: request.from, type: "request.failed", payload };
    const checked = this.#options.vocabulary.check("supervisor", send);
    if (!checked.ok) return;
    const author = { ref: "supervisor", kind: "supervisor", cause: { id: request.id } };
    this.#insert(draft, author, send, checked.value, now);
  }

  #insert(draft: Draft, author: Author, send: Send, checked: CheckedSend, now: number): void {
    const id = this.#options.newId();
    const traceparent = this.#traceparent(id, author, send, checked.durable);
    const outgoing: Outgoing = {
      id,
      to: send.to,
      from: author.ref,
      type: send.type,
      lane: checked.lane,
      payload: checked.payload,
      at: now,
      ...(author.cause ? { cause: author.cause.id } : {}),
      ...(traceparent === undefined ? {} : { traceparent }),
    };
    if (!checked.durable) {
      draft.ephemeral.push(outgoing);
      return;
    }
    const key = this.#keyOf(author.ref, send);
    const { notBefore, dedupe, replaces } = send;
    const settled = send.to === EDGE;
    draft.statements.push(...insertMessage({ ...outgoing, key, notBefore, dedupe, replaces, settled }));
    if (settled) {
      draft.edge.push(outgoing);
      draft.edgeRows.push(draft.statements.length - 1);
      return;
    }
    draft.mail.push({
      statement: draft.statements.length - 1,
      mail: {
        ...outgoing,
        key,
        payload: JSON.stringify(outgoing.payload),
        cause: outgoing.cause ?? null,
        traceparent: outgoing.traceparent ?? null,
        notBefore: notBefore ?? null,
        replaces: replaces ?? null,
        started: false,
        intent: null,
        failures: 0,
      },
    });
  }

  /** What it descends from; a durable message that is traced has a span of its own. */
  #traceparent(id: string, { ref, cause }: Author, { to, type }: Send, durable: boolean): string | undefined {
    const { tracing } = this.#options;
    const parent = (cause && tracing?.within(cause.id)) ?? cause?.traceparent ?? undefined;
    if (!tracing || !durable) return parent;
    return tracing.send({ id, to, from: ref, type, traceparent: parent });
  }

  /** What goes to the edge takes no place: it is never in a mailbox. */
  #reserve({ to }: Send, key: string): boolean {
    return to === EDGE || this.#options.reserve(to, key);
  }

  #keyOf(from: string, send: Send): string {
    return this.#options.vocabulary.keyOf?.({ type: send.type, payload: send.payload, from }) ?? from;
  }
}

/** The part of a ref after the slash, or the whole. */
export function idOf(ref: string): string {
  const slash = ref.indexOf("/");
  return slash < 0 ? ref : ref.slice(slash + 1);
}

const copiedIds = ["callId", "turnId", "itemId"] as const;

/** The ids that a `request.failed` repeats, so that its receiver need not remember message ids. */
function idsOf(payload: unknown): Record<string, string> {
  const ids: Record<string, string> = {};
  for (const name of copiedIds) {
    const value = typeof payload === "object" && payload !== null && name in payload
      ? Reflect.get(payload, name)
      : undefined;
    if (typeof value === "string") ids[name] = value;
  }
  return ids;
}
