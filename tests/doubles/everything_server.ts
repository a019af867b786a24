/**
 * The reference MCP server of the protocol's authors, from npm, as a configured server: run by this very Deno inside the sandbox, which lets it read
 * the binary and the packages and nothing else.
 */
import { fileURLToPath } from "node:url";
import type { StdioServer } from "../../actors/toolbox/config.ts";

const modules = fileURLToPath(new URL("../../node_modules", import.meta.url));

/** The configuration. */
export function everything(options: Partial<StdioServer> = {}): StdioServer {
  return {
    kind: "stdio",
    name: "everything",
    command: Deno.execPath(),
    args: [
      ...["run", "-A", "--no-config", "--cached-only", "--node-modules-dir=manual"],
      ...[`${modules}/@modelcontextprotocol/server-everything/dist/index.js`, "stdio"],
    ],
    env: { DENO_DIR: "/tmp/deno", NO_COLOR: "1" },
    network: false,
    readOnly: [Deno.execPath(), modules],
    unsandboxed: false,
    timeoutMs: 30_000,
    ...options,
  };
}
