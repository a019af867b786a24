/**
 * An MCP server with one tool, `unmarked`, of which it says nothing: by the protocol's defaults such a tool may destroy, so a call is of high risk. Speaks
 * the stdio transport by hand, one JSON-RPC message a line, so that the sandbox must read nothing but this file and Deno.
 */
import { fileURLToPath } from "node:url";
import type { StdioServer } from "../../actors/toolbox/config.ts";

interface Request {
  readonly id?: number;
  readonly method: string;
  readonly params?: { readonly protocolVersion?: string };
}

/** The configuration. */
export function unmarked(): StdioServer {
  const script = fileURLToPath(import.meta.url);
  return {
    kind: "stdio",
    name: "plain",
    command: Deno.execPath(),
    args: ["run", "--no-config", "--no-lock", "--no-check", "--cached-only", script],
    env: { DENO_DIR: "/tmp/deno", NO_COLOR: "1" },
    network: false,
    readOnly: [Deno.execPath(), script],
    unsandboxed: false,
    timeoutMs: 30_000,
  };
}

function resultOf({ method, params }: Request): unknown {
  switch (method) {
    case "initialize":
      return {
        protocolVersion: params?.protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: "plain", version: "1.0.0" },
      };
    case "tools/list":
      return { tools: [{ name: "unmarked", inputSchema: { type: "object", properties: {} } }] };
    case "tools/call":
      return { content: [{ type: "text", text: "it ran" }] };
    default:
      return {};
  }
}

if (import.meta.main) {
  let rest = "";
  for await (const text of Deno.stdin.readable.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines.filter((line) => line !== "")) {
      const request: Request = JSON.parse(line);
      if (request.id === undefined) continue;
      console.log(JSON.stringify({ jsonrpc: "2.0", id: request.id, result: resultOf(request) }));
    }
  }
}
