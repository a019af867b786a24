/**
 * A scripted model server on loopback that speaks the three provider protocols over real sockets.
 *
 * Tests tell it what to answer (`script`), wait for what it was asked (`nextRequest`), and decide when a hanging answer
 * goes on (`release`): nothing sleeps. Without a script it echoes, or calls the tools named by `tool:NAME {json}` lines.
 * `close()` ends everything that it opened.
 */

import { anthropicWire } from "./anthropic_wire.ts";
import { completionsWire } from "./completions_wire.ts";
import { handleControl } from "./control.ts";
import { echoScript } from "./echo_script.ts";
import { writeReply } from "./reply_stream.ts";
import { responsesWire } from "./responses_wire.ts";
import type { ModelScript, Reply, SeenRequest } from "./script.ts";
import { record, type Wire } from "./wire.ts";

/** A request, and how its answer ended. */
export interface FakeModelRequest extends SeenRequest {
  /** Settles when the answer is over: `done`, or `gone` when the client went away first. */
  readonly ended: Promise<"done" | "gone">;
}

const WIRES: Readonly<Record<string, Wire>> = {
  "/v1/messages": anthropicWire,
  "/v1/responses": responsesWire,
  "/v1/chat/completions": completionsWire,
};

export class FakeModel {
  readonly #server: Deno.HttpServer<Deno.NetAddr>;
  /** Everything that was asked, oldest first. */
  readonly requests: FakeModelRequest[] = [];
  readonly #unread: FakeModelRequest[] = [];
  readonly #waiting: ((request: FakeModelRequest) => void)[] = [];
  readonly #queue: (Reply | ModelScript)[] = [];
  readonly #held = new Set<() => void>();
  readonly #hangWaiters: (() => void)[] = [];
  #fallback: ModelScript = echoScript;

  private constructor(port: number) {
    const handler = (request: Request) => this.#handle(request);
    this.#server = Deno.serve({ hostname: "127.0.0.1", port, onListen: () => {} }, handler);
  }

  /** Listens on a free port of 127.0.0.1, or on `port`. */
  static start(port = 0): FakeModel {
    return new FakeModel(port);
  }

  /** Without a path: what Anthropic calls its base URL. */
  get url(): string {
    return `http://127.0.0.1:${this.#server.addr.port}`;
  }

  /** What the OpenAI protocols call their base URL. */
  get openaiUrl(): string {
    return `${this.url}/v1`;
  }

  /** A function answers everything from now on; a list answers the next requests, one reply each. */
  script(script: ModelScript | readonly (Reply | ModelScript)[]): void {
    if (typeof script === "function") this.#fallback = script;
    else this.#queue.push(...script);
  }

  /** Resolves with the next request that was not yet returned here. */
  nextRequest(): Promise<FakeModelRequest> {
    const unread = this.#unread.shift();
    if (unread !== undefined) return Promise.resolve(unread);
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** Lets every answer that hangs now go on. */
  release(): void {
    for (const proceed of [...this.#held]) proceed();
  }

  /** Resolves when an answer hangs, now or soon. */
  whenHanging(): Promise<void> {
    if (this.#held.size > 0) return Promise.resolve();
    return new Promise((resolve) => this.#hangWaiters.push(resolve));
  }

  /** Stops the server; answers that hang are let go. */
  async close(): Promise<void> {
    this.release();
    const finished = this.#server.shutdown();
    this.release();
    await finished;
  }

  async #handle(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url);
    if (pathname.startsWith("/_control/")) return await handleControl(this, pathname, request);
    const wire = WIRES[pathname];
    if (wire === undefined || request.method !== "POST") return new Response("no such path", { status: 404 });
    const body: unknown = await request.json();
    const { promise: ended, resolve: end } = Promise.withResolvers<"done" | "gone">();
    const headers = Object.fromEntries(request.headers);
    const seen: FakeModelRequest = { protocol: wire.protocol, ...wire.read(body), headers, body, ended };
    const reply = await this.#next(seen);
    this.#announce(seen);
    if (record(body).stream !== true) return new Response("the fake model only streams", { status: 400 });
    return writeReply(reply, { wire, model: seen.model, hold: (gone) => this.#hold(gone), end });
  }

  #next(request: SeenRequest): Reply | Promise<Reply> {
    const next = this.#queue.shift() ?? this.#fallback;
    return typeof next === "function" ? next(request) : next;
  }

  #announce(request: FakeModelRequest): void {
    this.requests.push(request);
    const waiter = this.#waiting.shift();
    if (waiter === undefined) this.#unread.push(request);
    else waiter(request);
  }

  #hold(gone: Promise<unknown>): Promise<void> {
    return new Promise((resolve) => {
      const proceed = () => {
        this.#held.delete(proceed);
        resolve();
      };
      this.#held.add(proceed);
      for (const tell of this.#hangWaiters.splice(0)) tell();
      void gone.then(proceed);
    });
  }
}
