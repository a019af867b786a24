/**
 * Operations of the toolbox besides those on `tool_calls`: the state of its MCP servers, as the actors view shows it.
 */
import * as z from "zod";
import { sql } from "../db.ts";
import { announce } from "../feed.ts";
import { op } from "../op.ts";

/** `blocked`: needs a sandbox that this machine does not have. `detail` is for the operator and holds no secret. */
const Status = z.object({
  name: z.string().min(1).max(100),
  state: z.enum(["starting", "ready", "down", "blocked"]),
  detail: z.string().max(1_000).nullable().default(null),
  tools: z.int().nonnegative().default(0),
  unsandboxed: z.boolean(),
  /** What it says of its tools is believed. */
  trusted: z.boolean().default(false),
});

/** Operations of this subject. */
export const toolboxOps = {
  "mcp.status": op(["toolbox"], Status, (input, { now }) => [
    sql(
      `INSERT INTO mcp_servers (name, state, detail, tools, unsandboxed, trusted, at) VALUES (?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (name) DO UPDATE SET state = excluded.state, detail = excluded.detail, tools = excluded.tools,
         unsandboxed = excluded.unsandboxed, trusted = excluded.trusted, at = excluded.at`,
      input.name,
      input.state,
      input.detail,
      input.tools,
      input.unsandboxed,
      input.trusted,
      now,
    ),
    announce("actor", "toolbox", 0, now),
  ]),
  /** Servers that are no longer configured. */
  "mcp.keep": op(["toolbox"], z.object({ names: z.array(z.string()).max(100) }), ({ names }) => [
    sql(
      `DELETE FROM mcp_servers WHERE name NOT IN (${names.map(() => "?").join(", ") || "''"})`,
      ...names,
    ),
  ]),
} as const;
