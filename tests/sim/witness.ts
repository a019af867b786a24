/**
 * Sees everything and believes nobody: holds the run to its promises while it goes on. The first broken promise ends the run, with what
 * happened shortly before. It only looks at rows, frames, log lines and effects, never into the runtime.
 */
import type { Statement } from "../../store/db.ts";
import type { World } from "./actors.ts";
import type { MemoryDatabase } from "./database.ts";
import type { Schedule } from "./schedule.ts";

const TRACE = 60;

/** Statements that are not fenced: the lease's own, and the committer's looking up of what became of a batch. */
const UNFENCED = /^\s*(SELECT|(INSERT INTO|UPDATE|DELETE FROM) (leases|commits)\b)/;

/** What a broken promise is reported as. */
export interface Violation {
  readonly promise: string;
  readonly detail: string;
  readonly step: number;
}

/** The witness of one run. */
export class Witness {
  violation: Violation | undefined;
  readonly database: MemoryDatabase;
  readonly #schedule: Schedule;
  readonly #bound: number;
  readonly #trace: string[] = [];
  readonly #loud: boolean;
  readonly #effects = new Map<string, number>();
  readonly #lastOfKey = new Map<string, number>();

  constructor(database: MemoryDatabase, schedule: Schedule, options: { bound: number; loud: boolean }) {
    this.database = database;
    this.#schedule = schedule;
    this.#bound = options.bound;
    this.#loud = options.loud;
    database.onBatch = (by, statements) => this.#onBatch(by, statements);
  }

  /** Notes what happens, for the report. */
  tell(text: string): void {
    const line = `${this.#schedule.steps} ${this.#schedule.now - 1_700_000_000_000} ms: ${text}`;
    if (this.#loud) console.log(line);
    this.#trace.push(line);
    if (this.#trace.length > TRACE) this.#trace.shift();
  }

  /** A promise is broken. Only the first one counts. */
  broken(promise: string, detail: string): void {
    this.violation ??= { promise, detail, step: this.#schedule.steps };
  }

  /** What happened before, newest last. */
  get trace(): readonly string[] {
    return this.#trace;
  }

  /** How often the message of this id acted in the world. */
  effects(id: string): number {
    return this.#effects.get(id) ?? 0;
  }

  /** The world as the gateway of this supervisor reaches it. */
  worldOf(holder: string): World {
    return {
      happened: (id) => this.#effects.has(id),
      act: (id, key) => this.#act(holder, id, key),
    };
  }

  /** Looks at what no single event shows; called now and then. */
  look(): void {
    const full = this.database.query({
      sql: `SELECT to_ref, CASE WHEN to_ref = 'world' THEN from_ref END AS key, count(*) AS n FROM messages
        WHERE state IN ('queued', 'started') AND lane = 1 AND from_ref NOT IN ('edge', 'supervisor')
        GROUP BY 1, 2 HAVING n > ?`,
      args: [BigInt(this.#bound)],
    }).rows[0];
    if (full) this.broken("mailboxes are bounded", `${String(full[0])} holds ${String(full[2])}`);
  }

  #act(holder: string, id: string, key: string): void {
    const count = this.effects(id) + 1;
    this.#effects.set(id, count);
    if (count > 1) this.broken("every effect happens once", `message ${id} acted ${count} times`);
    const row =
      this.database.query({ sql: "SELECT seq, state FROM messages WHERE id = ?", args: [id] }).rows[0];
    const [seq, state] = row ?? [];
    if (state !== "started") {
      this.broken("an effect's `started` is on disk before it begins", `message ${id} is ${String(state)}`);
    }
    if (Number(seq) <= (this.#lastOfKey.get(key) ?? 0)) {
      this.broken("effects of one key keep their order", `message ${id} (${seq}) of ${key} came late`);
    }
    this.#lastOfKey.set(key, Number(seq));
    const others = "SELECT count(*) FROM leases WHERE holder <> ? AND expires_at > ?";
    if (this.database.number(others, holder, BigInt(this.#schedule.now)) > 0) {
      this.broken("only the lease holder's gateways act", `${holder} acted on ${id}`);
    }
  }

  #onBatch(by: string, statements: readonly Statement[]): void {
    if (this.database.number("SELECT count(*) FROM closed_twice") > 0) {
      const [row] = this.database.query({ sql: "SELECT id, was, became FROM closed_twice", args: [] }).rows;
      this.broken("a message is closed once", `by ${by}: ${JSON.stringify(row)}`);
    }
    if (by === "edge" || statements.every((statement) => UNFENCED.test(statement.sql))) return;
    const [row] = this.database.query({ sql: "SELECT holder, expires_at FROM leases", args: [] }).rows;
    const [holder, expiresAt] = row ?? [];
    if (holder !== by || Number(expiresAt) <= this.#schedule.now) {
      this.broken("only the lease holder writes", `${by} wrote while ${String(holder)} held the lease`);
    }
  }
}
