/**
 * A tool of an MCP server as one of ours. Its class is `mcp` whatever it claims: its annotations only set the risk that a card
 * shows, and are shown there as the server's own words. The digest binds them, so a call does not run when they changed since it was judged.
 * Proven by `mcp_test.ts`.
 */
import { fail, ok } from "../../../lib/result.ts";
import type { Described, KnownTool } from "../../protocol/tools.ts";
import { oneLine, schemaHash, type Tool } from "../tool.ts";
import type { McpConnection, RemoteTool } from "./_sdk.ts";

/** The server that a tool belongs to. */
export interface Owner {
  readonly name: string;
  /** False when nothing but a person's decision stands between the server and the machine. */
  readonly sandboxed: boolean;
  readonly connection: Pick<McpConnection, "call">;
}

/** Longest name that every provider takes. */
const MAX_NAME = 64;

/** The name under which models know a server's tool. */
export function mcpToolName(server: string, tool: string): string {
  return `mcp__${server}__${tool}`.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, MAX_NAME);
}

/** Makes the tool. */
export function mcpTool(owner: Owner, remote: RemoteTool): Tool {
  const name = mcpToolName(owner.name, remote.name);
  const { description, parameters } = remote;
  const hints = remote.hints ? { hints: remote.hints } : {};
  const spec: KnownTool = {
    name,
    description,
    parameters,
    source: `mcp:${owner.name}`,
    class: "mcp",
    schemaHash: schemaHash({ name, description, parameters }),
    idempotent: remote.readOnly || remote.idempotent,
    ...hints,
  };
  return {
    spec,
    answeredElsewhere: false,
    parse(input) {
      if (!isObject(input)) return fail("bad_request", "arguments: expected an object");
      const text = JSON.stringify(input, null, 2);
      return ok({
        describe: () =>
          Promise.resolve({
            summary: oneLine(`${owner.name}: ${remote.name} ${JSON.stringify(input)}`),
            paths: [],
            outside: [],
            preview: { kind: "json", text },
            risk: riskOf(remote),
            sandboxed: owner.sandboxed,
            ...hints,
          }),
        run: (_, io) => owner.connection.call(remote.name, input, io).catch(stoppedBy(io.signal)),
      });
    },
  };
}

function riskOf({ readOnly, destructive }: RemoteTool): Described["risk"] {
  if (readOnly) return "low";
  return destructive ? "high" : "medium";
}

/** A call that was given up is an end of its own; the server was told, but may have done its work. */
function stoppedBy(signal: AbortSignal) {
  return (error: unknown) => {
    if (!signal.aborted) throw error;
    return {
      ok: false,
      aborted: true,
      text: "The server was told to stop; it may have done its work already.",
    };
  };
}

function isObject(input: unknown): input is Record<string, unknown> {
  return typeof input === "object" && input !== null && !Array.isArray(input);
}
