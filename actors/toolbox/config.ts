/**
 * The toolbox's start configuration: where workspaces are, which sandbox program to use, which MCP servers to offer. It also says which
 * Deno permissions a process with this configuration needs, so that the two cannot drift apart. Proven by `gateway_test.ts`.
 */
import * as z from "zod";

/** No doubled or outer `_`: with one, a rule for `mcp__mail__*` would cover the tools of another server, called `mail__x`. */
const ServerName = z.string().max(31).regex(
  /^[a-z0-9]+(?:[_-][a-z0-9]+)*$/,
  "lower-case letters and digits, with single - or _ between them",
);

/**
 * How calls of an MCP tool are approved. `rules` (the default): the rules decide, which ask where none says otherwise. `prompt`: a person is always
 * asked, whatever a rule or a bypass allows. `approve`: allowed where the question is only the general one about everything or about all servers.
 * `auto`: as `approve` for tools of which a trusted server says that they change nothing, else as `rules`. None of them lifts a denial.
 */
export const ApprovalMode = z.enum(["rules", "auto", "prompt", "approve"]);
export type ApprovalMode = z.infer<typeof ApprovalMode>;

/** What every kind of server may be told about the gate. */
const gate = {
  /** True: what the server says of its tools (read-only, destructive, idempotent, open world) is believed. */
  trusted: z.boolean().optional(),
  /** For all its tools. */
  approval: ApprovalMode.optional(),
  /** For single tools, by the server's own names for them. */
  toolApproval: z.record(z.string().min(1), ApprovalMode).optional(),
};

/** A stdio server: run in the sandbox in a folder of its own, unless `unsandboxed` says otherwise in so many words. */
export const StdioServer = z.strictObject({
  kind: z.literal("stdio"),
  name: ServerName,
  command: z.string().min(1),
  args: z.array(z.string()).default([]),
  /** The whole environment of the server besides PATH, HOME and LANG. */
  env: z.record(z.string(), z.string()).default({}),
  /** True: the server may use the network. */
  network: z.boolean().default(false),
  /** Absolute host paths that the server may read, bound at the same place. */
  readOnly: z.array(z.string().startsWith("/")).default([]),
  /** True: no sandbox at all. Shown in red. */
  unsandboxed: z.boolean().default(false),
  timeoutMs: z.int().min(100).max(3_600_000).default(60_000),
  ...gate,
});
export type StdioServer = z.infer<typeof StdioServer>;

/** A server reached over streamable HTTP; its host is the only one that the toolbox may connect to for it. */
export const HttpServer = z.strictObject({
  kind: z.literal("http"),
  name: ServerName,
  url: z.url({ protocol: /^https?$/ }),
  headers: z.record(z.string(), z.string()).default({}),
  timeoutMs: z.int().min(100).max(3_600_000).default(60_000),
  ...gate,
});
export type HttpServer = z.infer<typeof HttpServer>;

/** One configured MCP server. */
export const McpServer = z.discriminatedUnion("kind", [StdioServer, HttpServer]).refine(
  ({ trusted, approval, toolApproval }) =>
    trusted === true || ![approval, ...Object.values(toolApproval ?? {})].includes("auto"),
  {
    path: ["approval"],
    error: "`auto` goes by what the server says of its tools, so it needs `trusted: true`",
  },
);
export type McpServer = z.infer<typeof McpServer>;

/** What the composition root gives the toolbox. */
export const ToolboxConfig = z.strictObject({
  /** Absolute host folder that holds one workspace a conversation. */
  workspaces: z.string().startsWith("/"),
  mcpServers: z.array(McpServer).default([])
    .refine(
      (servers) => new Set(servers.map(({ name }) => name)).size === servers.length,
      "names must differ",
    ),
  /** The sandbox program; where it does not work, effects are locked to *ask once*. */
  bwrap: z.string().startsWith("/").default("/usr/bin/bwrap"),
  /** Runs commands where there is no sandbox. */
  bash: z.string().startsWith("/").default("/bin/bash"),
  /** IANA name; the default of schedules. */
  timeZone: z.string().default("UTC"),
});
export type ToolboxConfig = z.infer<typeof ToolboxConfig>;

/** The `deno run` permission flags of a toolbox process with this configuration. */
export function toolboxPermissions(config: ToolboxConfig): string[] {
  const commands = config.mcpServers.flatMap((server) =>
    server.kind === "stdio" && server.unsandboxed ? [server.command] : []
  );
  const hosts = config.mcpServers.flatMap((server) =>
    server.kind === "http" ? [new URL(server.url).host] : []
  );
  return [
    `--allow-read=${config.workspaces}`,
    `--allow-write=${config.workspaces}`,
    `--allow-run=${[...new Set([config.bwrap, config.bash, ...commands])].join(",")}`,
    ...(hosts.length > 0 ? [`--allow-net=${[...new Set(hosts)].join(",")}`] : []),
  ];
}
