/**
 * A small Hrana 2 server (JSON over HTTP) on `node:sqlite`, for tests of the web client. One stream is one connection, so batches are isolated
 * as on a real server. It can lose the answer to a batch that it applied, be busy, or hold a batch back until a gate opens. A double,
 * no proof of how a hosted database behaves. Never open a file with it that libSQL has open in the same process.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";

/** What the next pipeline that holds a batch meets; each fault is used once. */
export type Fault =
  | { readonly type: "drop_answer" }
  | { readonly type: "drop_request" }
  | { readonly type: "busy" }
  | { readonly type: "gate"; readonly until: Promise<void>; readonly reached?: () => void };

/** A running server. */
export interface HranaServer {
  readonly url: string;
  /** Faults for the batches to come, first in first out. */
  readonly faults: Fault[];
  /** How many batches were received, those that met a fault included. */
  readonly batches: number;
  close(): Promise<void>;
}

/** Serves the SQLite file at `path` on 127.0.0.1; with `token`, only to who sends it as bearer. */
export async function startHranaServer(path: string, token?: string): Promise<HranaServer> {
  const streams = new Map<string, Stream>();
  const faults: Fault[] = [];
  let batches = 0;

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (token !== undefined && request.headers.authorization !== `Bearer ${token}`) {
      return send(response, 401, { message: "unauthorized" });
    }
    const body: Pipeline = JSON.parse(await textOf(request));
    const hasBatch = body.requests.some((entry) => entry.type === "batch");
    if (hasBatch) batches++;
    const fault = hasBatch ? faults.shift() : undefined;
    if (fault?.type === "drop_request") return drop(request);
    if (fault?.type === "gate") {
      fault.reached?.();
      await fault.until;
    }
    const stream = takeStream(streams, body.baton) ?? new Stream(path);
    const results = body.requests.map((entry) => stream.answer(entry, fault?.type === "busy"));
    let baton: string | null = null;
    if (stream.closed) stream.end();
    else streams.set(baton = crypto.randomUUID(), stream);
    if (fault?.type === "drop_answer") return drop(request);
    send(response, 200, { baton, base_url: null, results });
  }

  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new TypeError("the test server has no port");

  return {
    url: `http://127.0.0.1:${address.port}`,
    faults,
    get batches() {
      return batches;
    },
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
      for (const stream of streams.values()) stream.end();
    },
  };
}

/** Breaks the connection without a word. */
function drop(request: IncomingMessage): void {
  request.socket.destroy();
}

function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = "";
  request.setEncoding("utf8");
  for await (const chunk of request) text += chunk;
  return text;
}

function takeStream(streams: Map<string, Stream>, baton: string | null | undefined): Stream | undefined {
  if (!baton) return undefined;
  const stream = streams.get(baton);
  streams.delete(baton);
  return stream;
}

interface Value {
  readonly type: "null" | "integer" | "float" | "text" | "blob";
  readonly value?: string | number;
  readonly base64?: string;
}

interface Statement {
  readonly sql?: string;
  readonly sql_id?: number;
  readonly args?: readonly Value[];
}

interface Condition {
  readonly type: "ok" | "error" | "not" | "and" | "or";
  readonly step?: number;
  readonly cond?: Condition;
  readonly conds?: readonly Condition[];
}

interface Step {
  readonly condition?: Condition | null;
  readonly stmt: Statement;
}

type Request =
  | { readonly type: "execute"; readonly stmt: Statement }
  | { readonly type: "batch"; readonly batch: { readonly steps: readonly Step[] } }
  | { readonly type: "store_sql"; readonly sql_id: number; readonly sql: string }
  | { readonly type: "close_sql"; readonly sql_id: number }
  | { readonly type: "close" };

interface Pipeline {
  readonly baton?: string | null;
  readonly requests: readonly Request[];
}

interface HranaError {
  readonly message: string;
  readonly code: string;
}

/** One Hrana stream: a connection, the SQL texts it was given, and what its batches did. */
class Stream {
  closed = false;
  readonly #db: DatabaseSync;
  readonly #texts = new Map<number, string>();

  constructor(path: string) {
    this.#db = new DatabaseSync(path, { timeout: 2_000 });
    this.#db.exec("PRAGMA journal_mode = WAL; PRAGMA foreign_keys = ON");
  }

  end(): void {
    this.#db.close();
  }

  answer(request: Request, busy: boolean): unknown {
    try {
      return { type: "ok", response: this.#perform(request, busy) };
    } catch (error) {
      return { type: "error", error: hranaError(error) };
    }
  }

  #perform(request: Request, busy: boolean): unknown {
    switch (request.type) {
      case "execute":
        return { type: "execute", result: this.#execute(request.stmt) };
      case "batch":
        return { type: "batch", result: this.#batch(request.batch.steps, busy) };
      case "store_sql":
        this.#texts.set(request.sql_id, request.sql);
        return { type: "store_sql" };
      case "close_sql":
        this.#texts.delete(request.sql_id);
        return { type: "close_sql" };
      case "close":
        this.closed = true;
        return { type: "close" };
      default:
        return request satisfies never;
    }
  }

  #batch(steps: readonly Step[], busy: boolean): unknown {
    const results: unknown[] = [];
    const errors: (HranaError | null)[] = [];
    const holds = (condition: Condition | null | undefined): boolean => {
      if (!condition) return true;
      const step = condition.step ?? -1;
      switch (condition.type) {
        case "ok":
          return results[step] !== undefined && results[step] !== null;
        case "error":
          return errors[step] !== undefined && errors[step] !== null;
        case "not":
          return !holds(condition.cond);
        case "and":
          return (condition.conds ?? []).every(holds);
        case "or":
          return (condition.conds ?? []).some(holds);
        default:
          return condition.type satisfies never;
      }
    };
    steps.forEach((step, index) => {
      results[index] = null;
      errors[index] = null;
      if (!holds(step.condition)) return;
      try {
        if (busy && index === 0) throw Object.assign(new Error("database is locked"), { errcode: 5 });
        results[index] = this.#execute(step.stmt);
      } catch (error) {
        errors[index] = hranaError(error);
      }
    });
    return { step_results: results, step_errors: errors };
  }

  #execute(statement: Statement): unknown {
    const text = statement.sql ?? this.#texts.get(statement.sql_id ?? -1);
    if (text === undefined) throw new Error("unknown sql_id");
    const prepared = this.#db.prepare(text);
    prepared.setReadBigInts(true);
    // The method is there, the type is not yet.
    (prepared as StatementSync & { setReturnArrays(enabled: boolean): void }).setReturnArrays(true);
    const args = (statement.args ?? []).map(fromHrana);
    const columns = prepared.columns().map((column) => ({ name: column.name, decltype: column.type }));
    if (columns.length === 0) {
      const { changes, lastInsertRowid } = prepared.run(...args);
      return {
        cols: [],
        rows: [],
        affected_row_count: Number(changes),
        last_insert_rowid: String(lastInsertRowid),
      };
    }
    // `setReturnArrays` makes every row an array of column values.
    const rows = prepared.all(...args) as unknown as unknown[][];
    return {
      cols: columns,
      rows: rows.map((row) => row.map(toHrana)),
      affected_row_count: 0,
      last_insert_rowid: null,
    };
  }
}

const CODES: Readonly<Record<number, string>> = {
  1: "SQLITE_ERROR",
  5: "SQLITE_BUSY",
  6: "SQLITE_LOCKED",
  13: "SQLITE_FULL",
  19: "SQLITE_CONSTRAINT",
  20: "SQLITE_MISMATCH",
};

function hranaError(error: unknown): HranaError {
  const message = error instanceof Error ? error.message : String(error);
  const code = typeof error === "object" && error !== null ? Reflect.get(error, "errcode") : undefined;
  return { message, code: typeof code === "number" ? CODES[code & 0xff] ?? "SQLITE_UNKNOWN" : "HRANA_ERROR" };
}

function fromHrana(value: Value): SQLInputValue {
  switch (value.type) {
    case "null":
      return null;
    case "integer":
      return BigInt(value.value ?? 0);
    case "float":
      return Number(value.value);
    case "text":
      return String(value.value);
    case "blob":
      return Uint8Array.fromBase64(value.base64 ?? "");
    default:
      return value.type satisfies never;
  }
}

function toHrana(value: unknown): Value {
  if (typeof value === "bigint") return { type: "integer", value: String(value) };
  if (typeof value === "number") return { type: "float", value };
  if (typeof value === "string") return { type: "text", value };
  if (value instanceof Uint8Array) return { type: "blob", base64: value.toBase64({ omitPadding: true }) };
  return { type: "null" };
}
