/**
 * The front of the fake server's REST API: routing, authentication, faults, the log.
 *
 * Every call is logged with its answer under its operation (`PATCH /messages/{message_id}`), armed faults are committed here, and refusals look like a
 * real server's. Calls that Callboard does not make are 404. What each call does is in `routes.ts`.
 */
import { Buffer } from "node:buffer";
import type { Faults } from "./faults.ts";
import type { FakeReply, FakeRequest } from "./http_server.ts";
import { Params } from "./params.ts";
import { type Json, ROUTES, serverSettings } from "./routes.ts";
import { type FakeUser, type World, ZulipRefusal } from "./world.ts";

export interface LoggedCall {
  /** Method and path template, such as `POST /messages`. */
  readonly op: string;
  readonly userId: number | null;
  readonly params: Readonly<Record<string, string>>;
  /** Null while the call is under way. */
  outcome: { readonly status: number; readonly body: unknown } | "dropped" | "hung" | null;
}

export class Api {
  readonly log: LoggedCall[] = [];
  readonly #world: World;
  readonly #faults: Faults;
  readonly #changed: () => void;

  constructor(world: World, faults: Faults, changed: () => void) {
    this.#world = world;
    this.#faults = faults;
    this.#changed = changed;
  }

  /** Answers a request under `/api/v1`. */
  async handle(request: FakeRequest, path: string): Promise<FakeReply> {
    const values = Object.fromEntries([...request.query, ...new URLSearchParams(request.body)]);
    const route = ROUTES.find(([op, pattern]) => op.startsWith(`${request.method} `) && pattern.test(path));
    const settings = request.method === "GET" && path === "/server_settings";
    const op = settings ? "GET /server_settings" : route?.[0] ?? `${request.method} ${path}`;
    const user = this.#authenticate(request.headers.get("authorization"));
    const entry: LoggedCall = { op, userId: user?.id ?? null, params: values, outcome: null };
    this.log.push(entry);
    this.#changed();

    const reply = await this.#reply(op, async () => {
      if (settings) return serverSettings(this.#world, request.headers.get("host") ?? "");
      if (!user) throw new ZulipRefusal("Invalid API key", { status: 401, code: "UNAUTHORIZED" });
      if (!route) throw new ZulipRefusal("Not found", { status: 404 });
      const params = new Params(values);
      const id = Number(route[1].exec(path)?.[1] ?? 0);
      const body = await route[2]({ world: this.#world, user, params, id, gone: request.gone });
      const ignored = Object.keys(values).filter((name) => !params.used.has(name));
      return { ...body, ...(ignored.length > 0 ? { ignored_parameters_unsupported: ignored } : {}) };
    });
    entry.outcome = reply === "drop" ? "dropped" : reply === "hang" ? "hung" : {
      status: reply.status,
      body: reply.body.startsWith("{") ? JSON.parse(reply.body) : reply.body,
    };
    this.#changed();
    return reply;
  }

  async #reply(op: string, run: () => Promise<Json>): Promise<FakeReply> {
    const fault = this.#faults.take(op);
    switch (fault?.kind) {
      case "limit":
        return limited(fault.retryAfterSeconds);
      case "refuse":
        return json(fault.status, { result: "error", msg: fault.msg, code: fault.code });
      case "fail":
        if (fault.stored) await this.#answer(run);
        return fault.html
          ? {
            status: fault.status,
            headers: { "content-type": "text/html" },
            body: "<html>Bad Gateway</html>",
          }
          : json(fault.status, { result: "error", msg: "Internal server error" });
      case "drop":
        if (fault.stored) await this.#answer(run);
        return "drop";
      case "hang":
        await this.#answer(run);
        return "hang";
      case undefined:
        return await this.#answer(run);
    }
  }

  async #answer(run: () => Promise<Json>): Promise<FakeReply> {
    try {
      return json(200, { result: "success", msg: "", ...await run() });
    } catch (error) {
      if (!(error instanceof ZulipRefusal)) throw error;
      return json(error.status, { result: "error", msg: error.message, code: error.code, ...error.extra });
    }
  }

  #authenticate(header: string | null): FakeUser | null {
    const [, encoded] = /^Basic (.+)$/.exec(header ?? "") ?? [];
    if (!encoded) return null;
    const pair = Buffer.from(encoded, "base64").toString("utf8");
    const users = [...this.#world.users.values()];
    return users.find((user) => user.isActive && `${user.email}:${user.apiKey}` === pair) ?? null;
  }
}

function json(status: number, body: Json, headers: Record<string, string> = {}): FakeReply {
  const limits = { "x-ratelimit-limit": "200", "x-ratelimit-remaining": "199", "x-ratelimit-reset": "0" };
  return {
    status,
    headers: { "content-type": "application/json", ...limits, ...headers },
    body: JSON.stringify(body),
  };
}

function limited(seconds: number): FakeReply {
  const body = {
    result: "error",
    msg: "API usage exceeded rate limit",
    code: "RATE_LIMIT_HIT",
    "retry-after": seconds,
  };
  return json(429, body, { "retry-after": String(Math.ceil(seconds)), "x-ratelimit-remaining": "0" });
}
