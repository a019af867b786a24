/**
 * Keeps every configured MCP server running: starts them without holding up the toolbox, offers what they list, restarts what dies with a
 * capped random backoff, and writes each change of state to `mcp_servers`. Without a sandbox a server that needs one stays blocked. The
 * SDK is 19 MiB: it is loaded when the first server is started.
 * Proven by `mcp_test.ts`.
 */
import { backoffMs } from "../../../lib/backoff.ts";
import { type Clock, sleep } from "../../../lib/clock.ts";
import type { GatewayContext } from "../../../runtime/actor.ts";
import type { Op } from "../../../store/ops.ts";
import type { McpServer, StdioServer } from "../config.ts";
import type { Registry } from "../registry.ts";
import { bwrapArgs, WORKSPACE } from "../sandbox/bwrap.ts";
import type { SandboxMode } from "../sandbox/sandbox.ts";
import type { McpConnection, Transport } from "./_sdk.ts";
import { mcpTool } from "./mcp_tool.ts";
import type { StdioTransport } from "./stdio_transport.ts";

/** What the servers are kept with. */
export interface McpServersOptions {
  readonly servers: readonly McpServer[];
  readonly context: GatewayContext;
  readonly registry: Registry;
  readonly clock: Clock;
  /** In [0, 1). */
  readonly random: () => number;
  readonly place: {
    readonly mode: SandboxMode;
    readonly bwrap: string;
    readonly bash: string;
    readonly etc: string;
    /** Host folder of all workspaces. */
    readonly workspaces: string;
    readonly folderOf: (name: string) => Promise<string>;
  };
}

type Status = Extract<Op, { op: "mcp.status" }>["state"];

/** A server that was up for so long starts its backoff anew, in milliseconds. */
const STEADY_MS = 60_000;
/** How long a call may wait for a server that starts together with the toolbox, in milliseconds. */
const PATIENCE_MS = 10_000;

/** All servers of this process. */
export class McpServers {
  readonly #loops: Promise<void>[] = [];
  readonly #stop = new AbortController();
  #tried: Promise<unknown> = Promise.resolve();

  constructor(private readonly options: McpServersOptions) {}

  /** Starts them all; returns at once. */
  start(): void {
    const { context, servers, clock } = this.options;
    const names = servers.map((server) => server.name);
    this.#loops.push(this.#commit({ op: "mcp.keep", names }));
    const signal = AbortSignal.any([context.signal, this.#stop.signal]);
    const first = servers.map((server) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#loops.push(this.#keep(server, signal, resolve).finally(resolve));
      return promise;
    });
    const enough = new AbortController();
    const waited = sleep(clock, PATIENCE_MS, AbortSignal.any([signal, enough.signal])).catch(() => {});
    this.#tried = Promise.race([Promise.all(first).then(() => enough.abort()), waited]);
  }

  /**
   * Resolves when each server has been tried once, or has taken too long: a call that comes while the toolbox starts, such as one that was handed
   * over again, is for a tool that is not there yet. Rejects when the toolbox stops first.
   */
  async tried(): Promise<void> {
    await this.#tried;
    this.options.context.signal.throwIfAborted();
  }

  /** Ends them all, and resolves when no process of theirs is left. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await Promise.all(this.#loops);
  }

  async #keep(server: McpServer, signal: AbortSignal, onTried: () => void): Promise<void> {
    const { clock, context, place, random } = this.options;
    if (server.kind === "stdio" && !server.unsandboxed && place.mode === "none") {
      await this.#status(server, "blocked", {
        detail: "It must run in the sandbox, which does not work here.",
      });
      return;
    }
    const seen = server.kind === "stdio"
      ? server.readOnly.find((path) => overlaps(path, place.workspaces))
      : undefined;
    if (seen !== undefined) {
      await this.#status(server, "blocked", {
        detail: `It would see the conversations' files: take "${seen}" out of its readOnly paths.`,
      });
      return;
    }
    for (let failures = 0; !signal.aborted; failures++) {
      const began = clock.monotonic();
      const detail = await this.#once(server, signal, onTried);
      onTried();
      if (signal.aborted) break;
      if (clock.monotonic() - began > STEADY_MS) failures = 0;
      context.log("warn", "MCP server is down", { server: server.name, detail });
      await this.#status(server, "down", { detail });
      const wait = backoffMs(failures, { baseMs: 1_000, capMs: 60_000, random });
      await sleep(clock, wait, signal).catch(() => {});
    }
  }

  /** One life of a server; resolves with why it ended. */
  async #once(server: McpServer, signal: AbortSignal, onOffered: () => void): Promise<string> {
    const { registry, clock } = this.options;
    const source = `mcp:${server.name}`;
    const closed = Promise.withResolvers<void>();
    let connection: McpConnection | undefined;
    let transport: Transport | undefined;
    const close = () => void (connection ?? transport)?.close();
    signal.addEventListener("abort", close, { once: true });
    try {
      await this.#status(server, "starting", {});
      transport = await this.#transport(server, clock);
      if (signal.aborted) return "stopped";
      const { connectMcp } = await import("./_sdk.ts");
      connection = await connectMcp({
        name: server.name,
        sandboxed: this.#isSandboxed(server),
        transport,
        timeoutMs: server.timeoutMs,
        clock,
        onToolsChanged: () => void this.#offer(server, connection),
        onClosed: closed.resolve,
      });
      await this.#offer(server, connection);
      onOffered();
      if (signal.aborted) await connection.close();
      await closed.promise;
      return saidBy(transport) || "It ended.";
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error);
      return [text, saidBy(transport)].filter((part) => part !== "").join(": ");
    } finally {
      signal.removeEventListener("abort", close);
      registry.set(source, []);
      await transport?.close();
    }
  }

  async #offer(server: McpServer, connection: McpConnection | undefined): Promise<void> {
    if (!connection) return;
    const { registry, context } = this.options;
    try {
      const remote = await connection.tools();
      const owner = { server, sandboxed: this.#isSandboxed(server), connection };
      const unknown = Object.keys(server.toolApproval ?? {}).filter((name) =>
        !remote.some((tool) => tool.name === name)
      );
      if (unknown.length > 0) {
        context.log("warn", "toolApproval names tools that the MCP server does not have", {
          server: server.name,
          tools: unknown.join(", "),
        });
      }
      registry.set(`mcp:${server.name}`, remote.map((tool) => mcpTool(owner, tool)));
      await this.#status(server, "ready", { tools: remote.length });
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      context.log("warn", "MCP server does not list its tools", { server: server.name, why });
      await connection.close();
    }
  }

  async #transport(server: McpServer, clock: Clock): Promise<Transport> {
    if (server.kind === "http") return (await import("./_sdk.ts")).httpTransport(server.url, server.headers);
    const { StdioTransport } = await import("./stdio_transport.ts");
    const { place } = this.options;
    const folder = await place.folderOf(`mcp/${server.name}`);
    const isolated = !server.unsandboxed;
    const env = serverEnv(server, isolated ? WORKSPACE : folder);
    if (!isolated) {
      const { command, args } = server;
      return new StdioTransport({ command, args, env, cwd: folder, bash: place.bash }, clock);
    }
    const { readOnly, network } = server;
    const sandbox = bwrapArgs({ workspace: folder, etc: place.etc, readOnly, network });
    const args = [...sandbox, server.command, ...server.args];
    return new StdioTransport({ command: place.bwrap, args, env }, clock);
  }

  #isSandboxed(server: McpServer): boolean {
    return this.options.place.mode === "bwrap" && !(server.kind === "stdio" && server.unsandboxed);
  }

  #status(server: McpServer, state: Status, facts: { detail?: string; tools?: number }): Promise<void> {
    const unsandboxed = server.kind === "stdio" && server.unsandboxed;
    const detail = facts.detail?.slice(0, 1_000) ?? null;
    return this.#commit({
      op: "mcp.status",
      name: server.name,
      state,
      detail,
      tools: facts.tools ?? 0,
      unsandboxed,
      trusted: server.trusted ?? false,
    });
  }

  /** The view of a server may lag; its state is no reason to fail. */
  async #commit(op: Op): Promise<void> {
    const { context } = this.options;
    if (context.signal.aborted) return;
    const committed = await context.commit({ ops: [op] });
    if (!committed.ok) context.log("warn", "MCP state not recorded", { why: committed.error.message });
  }
}

/** Whether one of two absolute paths lies in the other. */
function overlaps(a: string, b: string): boolean {
  const [first, second] = [a, b].map((path) => `${path.replace(/\/+/g, "/").replace(/\/$/, "")}/`);
  return first !== undefined && second !== undefined &&
    (first.startsWith(second) || second.startsWith(first));
}

function saidBy(transport: Transport | StdioTransport | undefined): string {
  return transport && "said" in transport ? transport.said.slice(-500) : "";
}

function serverEnv(server: StdioServer, home: string): Record<string, string> {
  return { PATH: "/usr/local/bin:/usr/bin:/bin", LANG: "C.UTF-8", HOME: home, ...server.env };
}
