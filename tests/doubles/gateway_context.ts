/**
 * A gateway's context over a real database file, without a runtime: commits run the real operations, reads the real reads, and what was sent is
 * kept for the test to look at. Dedupe texts count as they do in the mailbox.
 */
import type { Committed, Delivery, Effects, Envelope, GatewayContext, Send } from "../../runtime/actor.ts";
import type { Db } from "../../store/db.ts";
import { DbError, type Statement } from "../../store/db.ts";
import { opStatements } from "../../store/ops.ts";
import { readCatalogue } from "../../store/reads.ts";

/** What a test may look at and turn. */
export class GatewayContextDouble implements GatewayContext {
  readonly sent: Send[] = [];
  readonly emitted: Send[] = [];
  readonly logged: string[] = [];
  /** Set to false: the lease is lost. */
  acting = true;
  readonly #stop = new AbortController();
  readonly #dedupes = new Set<string>();
  readonly #watchers = new Set<() => void>();
  #ids = 0;

  constructor(readonly ref: string, readonly db: Db, readonly config: unknown) {}

  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  now(): number {
    return Date.now();
  }

  newId(): string {
    return `id-${String(++this.#ids).padStart(6, "0")}-${crypto.randomUUID().slice(0, 8)}`;
  }

  async commit(effects: Effects): Promise<Committed> {
    const statements: Statement[] = [];
    for (const op of effects.ops ?? []) {
      const made = opStatements(op, { ref: this.ref, kind: this.ref, id: this.ref, now: this.now() });
      if (!made.ok) return made;
      statements.push(...made.value);
    }
    try {
      if (statements.length > 0) await this.db.batch(statements);
    } catch (error) {
      if (!(error instanceof DbError)) throw error;
      return {
        ok: false,
        error: { code: error.kind === "constraint" ? "guard_failed" : "unavailable", message: error.message },
      };
    }
    for (const send of effects.send ?? []) {
      if (send.dedupe !== undefined && this.#dedupes.has(send.dedupe)) continue;
      if (send.dedupe !== undefined) this.#dedupes.add(send.dedupe);
      this.sent.push(send);
    }
    for (const check of [...this.#watchers]) check();
    return { ok: true };
  }

  emit(send: Send): void {
    this.emitted.push(send);
  }

  async read(name: string, input: unknown): Promise<unknown> {
    const spec = readCatalogue[name];
    if (!spec?.by.includes(this.ref)) throw new TypeError(`read "${name}" is not for ${this.ref}`);
    return await spec.run(this.db, spec.schema.parse(input));
  }

  mayAct(): boolean {
    return this.acting;
  }

  log(_level: string, text: string, facts?: Readonly<Record<string, unknown>>): void {
    this.logged.push(`${text} ${JSON.stringify(facts ?? {})}`);
  }

  /** Ends the gateway's loops. */
  stop(): void {
    this.#stop.abort();
  }

  /** Resolves with the first send that `wanted` accepts, now or later. */
  until(wanted: (send: Send) => boolean): Promise<Send> {
    return new Promise((resolve) => {
      const check = () => {
        const found = this.sent.find(wanted);
        if (!found) return;
        this.#watchers.delete(check);
        resolve(found);
      };
      this.#watchers.add(check);
      check();
    });
  }

  /** A message in the gateway's hands. */
  delivery(message: Partial<Envelope> & Pick<Envelope, "type" | "payload">, resumed = false): Delivery {
    return {
      message: {
        id: this.newId(),
        v: 1,
        to: this.ref,
        from: "supervisor",
        lane: "normal",
        durable: true,
        at: this.now(),
        ...message,
      },
      resumed,
      intent: null,
      signal: this.signal,
      started: (_intent, effects) => this.commit(effects ?? {}),
    };
  }
}
