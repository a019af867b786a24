/**
 * The Model Context Protocol client, reduced to what the toolbox uses. The only importer of `@modelcontextprotocol/sdk`, so that the next
 * version of it touches this file and `stdio_transport.ts`'s types alone. The one thing that a server may ask of us is a form or an address for a
 * person (`elicitation`), and only while a single call of ours is running there, since the protocol does not say which call it belongs to.
 * Proven by `mcp_test.ts` against a real server.
 */
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { type JSONRPCMessage, JSONRPCMessageSchema } from "@modelcontextprotocol/sdk/types.js";
import {
  ElicitationCompleteNotificationSchema,
  ElicitRequestSchema,
  ToolListChangedNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";
import type { Clock } from "../../../lib/clock.ts";
import type { ToolHints } from "../../protocol/tools.ts";
import type { Outcome, RunIo } from "../tool.ts";
import { LinksRequired } from "./elicitation.ts";
import { LinksDone, openRequired } from "./links.ts";
import { elicit, RunningCall } from "./running_call.ts";

export type { JSONRPCMessage, Transport };

/** A tool as a server declares it. Everything in it, annotations included, is the server's claim. */
export interface RemoteTool {
  readonly name: string;
  readonly description: string;
  readonly parameters: Record<string, unknown>;
  /** Its annotations as it wrote them; absent when it wrote none of these. */
  readonly hints?: ToolHints | undefined;
}

/** A connected server. */
export interface McpConnection {
  /** All pages of its list. */
  tools(): Promise<RemoteTool[]>;
  /** Rejects when the server does not answer within the time limit; the time that a person takes does not count. */
  call(name: string, args: Record<string, unknown>, io: Pick<RunIo, "signal" | "ask">): Promise<Outcome>;
  close(): Promise<void>;
}

/** How to connect. */
export interface ConnectOptions {
  /** The server's configured name; people are told who asks. */
  readonly name: string;
  /** Whether it runs in the sandbox; people are told. */
  readonly sandboxed: boolean;
  readonly transport: Transport;
  /** Limit of one request, in milliseconds. */
  readonly timeoutMs: number;
  readonly clock: Clock;
  onToolsChanged(): void;
  /** The connection ended, for whatever reason; also after `close`. */
  onClosed(): void;
}

/** What one server may claim of our attention. */
const MAX_PAGES = 20;
const MAX_TOOLS = 200;
const MAX_DESCRIPTION = 4_000;

/** Our own clock is the limit of a call (`RunningCall`); the SDK's cannot stand still while a person thinks. */
const LONGEST_MS = 2_147_483_647;

/** Connects and shakes hands. Rejects when the server does not answer in time. */
export async function connectMcp(options: ConnectOptions): Promise<McpConnection> {
  const { transport, timeoutMs, clock } = options;
  const asker = { server: options.name, sandboxed: options.sandboxed };
  const capabilities = { elicitation: { form: {}, url: {} } };
  const client = new Client({ name: "callboard", version: "0.1.0" }, { capabilities });
  const running = new Set<RunningCall>();
  const links = new LinksDone();
  client.setRequestHandler(
    ElicitRequestSchema,
    (request: { params: unknown }, { signal }: { signal: AbortSignal }) =>
      elicit(asker, running, request.params, { until: signal, links }),
  );
  client.setNotificationHandler(
    ElicitationCompleteNotificationSchema,
    (done: { params: { elicitationId: string } }) => links.add(done.params.elicitationId),
  );
  client.onclose = options.onClosed;
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => options.onToolsChanged());
  try {
    await client.connect(transport, { timeout: timeoutMs });
  } catch (error) {
    await client.close();
    throw error;
  }
  return {
    async tools() {
      const found: RemoteTool[] = [];
      let cursor: string | undefined;
      for (let page = 0; page < MAX_PAGES; page++) {
        const list = await client.listTools(cursor === undefined ? {} : { cursor }, { timeout: timeoutMs });
        found.push(...list.tools.map(toRemoteTool));
        cursor = list.nextCursor;
        if (cursor === undefined || found.length >= MAX_TOOLS) break;
      }
      return found.slice(0, MAX_TOOLS);
    },
    async call(name, args, io) {
      const call = new RunningCall(name, io, timeoutMs, clock);
      running.add(call);
      const limits = { signal: call.signal, timeout: LONGEST_MS, maxTotalTimeout: LONGEST_MS };
      const once = async () => toOutcome(await client.callTool({ name, arguments: args }, undefined, limits));
      try {
        return await once().catch(async (error: unknown) => {
          const required = LinksRequired.safeParse(error);
          if (!required.success) throw error;
          // The server has done nothing of it yet, so it may be asked once more.
          return await openRequired(asker, call, required.data.data.elicitations, links) ?? await once();
        });
      } finally {
        call.end();
        running.delete(call);
      }
    },
    close: () => client.close(),
  };
}

/**
 * A transport for a server that is reached over HTTP. It keeps no idle connection, since fetch by itself sends a request again when one
 * drops, and a tool would then run twice; and it follows no redirect to a host that nobody configured.
 */
export function httpTransport(url: string, headers: Readonly<Record<string, string>>): Transport {
  const client = Deno.createHttpClient({ poolMaxIdlePerHost: 0, http2: false });
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    requestInit: { headers: { ...headers }, redirect: "error" },
    fetch(input: string | URL, init?: RequestInit) {
      const withClient: RequestInit & { client: Deno.HttpClient } = { ...init, client };
      return fetch(input, withClient);
    },
  });
  const closeSdk = transport.close.bind(transport);
  let closed: Promise<void> | undefined;
  transport.close = () => closed ??= closeSdk().finally(() => client.close());
  // The SDK's class declares `sessionId` as possibly undefined where its own interface, under exact optional types, does not.
  return transport as Transport;
}

/** Reads one line of the stdio transport. Throws for what is no JSON-RPC message. */
export function parseMessage(line: string): JSONRPCMessage {
  return JSONRPCMessageSchema.parse(JSON.parse(line));
}

interface Declared {
  name: string;
  description?: string | undefined;
  inputSchema: { [key: string]: unknown };
  annotations?: {
    readOnlyHint?: boolean | undefined;
    destructiveHint?: boolean | undefined;
    idempotentHint?: boolean | undefined;
    openWorldHint?: boolean | undefined;
  } | undefined;
}

function toRemoteTool({ name, description = "", inputSchema, annotations }: Declared): RemoteTool {
  return {
    name,
    description: description.slice(0, MAX_DESCRIPTION),
    parameters: inputSchema,
    hints: hintsOf(annotations),
  };
}

function hintsOf(annotations: Declared["annotations"]): ToolHints | undefined {
  const { readOnlyHint: readOnly, destructiveHint: destructive } = annotations ?? {};
  const { openWorldHint: openWorld, idempotentHint: idempotent } = annotations ?? {};
  const hints = {
    ...(readOnly === undefined ? {} : { readOnly }),
    ...(destructive === undefined ? {} : { destructive }),
    ...(openWorld === undefined ? {} : { openWorld }),
    ...(idempotent === undefined ? {} : { idempotent }),
  };
  return Object.keys(hints).length > 0 ? hints : undefined;
}

function toOutcome(result: Awaited<ReturnType<Client["callTool"]>>): Outcome {
  const parts = Array.isArray(result.content) ? result.content.map(partText) : [];
  if (parts.length === 0 && result.structuredContent !== undefined) {
    parts.push(JSON.stringify(result.structuredContent, null, 2));
  }
  return { ok: result.isError !== true, text: parts.join("\n") || "(No output.)" };
}

/** One content block as text; what is no text is named, not carried. */
function partText(part: Record<string, unknown>): string {
  if (part.type === "text" && typeof part.text === "string") return part.text;
  if (part.type === "resource" && typeof part.resource === "object" && part.resource !== null) {
    const resource = part.resource;
    if ("text" in resource && typeof resource.text === "string") return resource.text;
    return `[resource ${"uri" in resource ? resource.uri : "without address"}]`;
  }
  if (part.type === "resource_link") return `[link ${part.uri}]`;
  const size = typeof part.data === "string" ? `, ${Math.floor(part.data.length * 3 / 4)} bytes` : "";
  return `[${part.type} ${part.mimeType ?? ""}${size}]`;
}
