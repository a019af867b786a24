/**
 * A tool of an MCP server as one of ours. Its class is `mcp` whatever it claims, and what it claims lowers nothing: not its risk below medium, not
 * the care with which an interrupted call is left alone. Only a server that is configured as trusted is believed. The digest and the
 * definition's hash bind the claims, so what was allowed before they changed is void. Proven by `mcp_tool_test.ts` and `mcp_test.ts`.
 */
import { fail, ok } from "../../../lib/result.ts";
import type { Described, KnownTool, ToolHints } from "../../protocol/tools.ts";
import type { McpServer } from "../config.ts";
import { oneLine, schemaHash, type Tool } from "../tool.ts";
import type { McpConnection, RemoteTool } from "./_sdk.ts";

/** The server that a tool belongs to, as it is configured and reached. */
export interface Owner {
  readonly server: Pick<McpServer, "name" | "trusted" | "approval" | "toolApproval">;
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
export function mcpTool({ server, sandboxed, connection }: Owner, remote: RemoteTool): Tool {
  const name = mcpToolName(server.name, remote.name);
  const { description, parameters } = remote;
  const hints = remote.hints ? { hints: remote.hints } : {};
  const mode = modeOf(server, remote);
  const believed = server.trusted ? remote.hints : undefined;
  const spec: KnownTool = {
    name,
    description,
    parameters,
    source: `mcp:${server.name}`,
    class: "mcp",
    schemaHash: schemaHash({ name, description, parameters, ...hints }),
    idempotent: believed?.readOnly === true || believed?.idempotent === true,
    trusted: server.trusted ?? false,
    ...(mode && { mode }),
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
            summary: oneLine(`${server.name}: ${remote.name} ${JSON.stringify(input)}`),
            paths: [],
            outside: [],
            preview: { kind: "json", text },
            risk: riskOf(remote.hints, server.trusted ?? false),
            sandboxed,
            ...hints,
          }),
        run: (_, io) => connection.call(remote.name, input, io).catch(stoppedBy(io.signal)),
      });
    },
  };
}

/**
 * What the configuration says of a tool, the tool's own entry before its server's. `auto` goes by what a trusted server says: what changes nothing
 * and stays inside is approved, everything else is left to the rules.
 */
export function modeOf(
  { trusted, approval, toolApproval }: Owner["server"],
  { name, hints }: Pick<RemoteTool, "name" | "hints">,
): KnownTool["mode"] {
  const said = toolApproval && Object.hasOwn(toolApproval, name) ? toolApproval[name] : approval;
  if (said === "rules") return undefined;
  if (said !== "auto") return said;
  const harmless = hints?.readOnly === true && hints.destructive !== true && hints.openWorld !== true;
  return trusted && harmless ? "approve" : undefined;
}

/** High unless the server says that nothing is destroyed; low only where it is believed that nothing is changed. */
function riskOf(hints: ToolHints | undefined, trusted: boolean): Described["risk"] {
  if (trusted && hints?.readOnly === true) return "low";
  return hints?.readOnly === true || hints?.destructive === false ? "medium" : "high";
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
