/**
 * An MCP server that asks: built with the protocol authors' own SDK, run over stdio in the sandbox like any configured server. `asking()` is its
 * configuration; run as a program it is the server.
 */
import { fileURLToPath } from "node:url";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { UrlElicitationRequiredError } from "@modelcontextprotocol/sdk/types.js";
import * as z from "zod";
import type { StdioServer } from "../../actors/toolbox/config.ts";

const root = fileURLToPath(new URL("../..", import.meta.url)).replace(/\/$/, "");
const sdk = "@modelcontextprotocol/sdk/";
/** The sandbox holds no npm cache: there the names lead straight to the installed files. */
const importMap = JSON.stringify({
  imports: {
    [sdk]: `file://${root}/node_modules/${sdk}dist/esm/`,
    zod: `file://${root}/node_modules/zod/index.js`,
  },
});

/** The server's configuration. */
export function asking(options: Partial<StdioServer> = {}): StdioServer {
  return {
    kind: "stdio",
    name: "asking",
    command: Deno.execPath(),
    args: [
      ...["run", "-A", "--no-config", "--no-lock", "--cached-only", "--node-modules-dir=manual"],
      ...[`--import-map=data:application/json,${encodeURIComponent(importMap)}`, import.meta.filename ?? ""],
    ],
    env: { DENO_DIR: "/tmp/deno", NO_COLOR: "1" },
    network: false,
    readOnly: [Deno.execPath(), root],
    unsandboxed: false,
    timeoutMs: 30_000,
    ...options,
  };
}

const anything = { type: "object" as const, properties: { word: { type: "string" as const } } };

/** Resolves when the file is in the server's folder: how a test tells this server to go on. */
async function appears(name: string): Promise<void> {
  while (!await Deno.stat(name).then(() => true, () => false)) {
    await new Promise((resolve) => Deno.unrefTimer(setTimeout(resolve, 5)));
  }
}

async function serve(): Promise<void> {
  const mcp = new McpServer({ name: "asking", version: "1.0.0" });
  const said = (value: unknown) => ({ content: [{ type: "text" as const, text: JSON.stringify(value) }] });

  mcp.registerTool("form", { description: "asks with every kind of field" }, async () =>
    said(
      await mcp.server.elicitInput({
        mode: "form",
        message: "About you",
        requestedSchema: {
          type: "object",
          properties: {
            name: { type: "string", title: "Name", minLength: 2 },
            mail: { type: "string", format: "email" },
            born: { type: "string", format: "date" },
            age: { type: "integer", minimum: 1 },
            sure: { type: "boolean", default: true },
            colour: { type: "string", oneOf: [{ const: "r", title: "Red" }, { const: "b", title: "Blue" }] },
            tags: { type: "array", items: { type: "string", enum: ["x", "y"] } },
          },
          required: ["name", "age"],
        },
      }),
    ));

  mcp.registerTool("login", { description: "asks for a name and a password" }, async () => {
    const { action, content } = await mcp.server.elicitInput({
      mode: "form",
      message: "Log in",
      requestedSchema: {
        type: "object",
        properties: { user: { type: "string" }, password: { type: "string" } },
        required: ["user", "password"],
      },
    });
    const letters = String(content?.password ?? "").length;
    return said(`${action}: ${content?.user} has a password of ${letters} letters`);
  });

  const annotations = { idempotentHint: true };
  mcp.registerTool("confirm", { description: "asks for agreement", annotations }, async () =>
    said(
      await mcp.server.elicitInput({
        mode: "form",
        message: "Go on?",
        requestedSchema: { type: "object", properties: {} },
      }),
    ));

  const link = { mode: "url" as const, message: "Sign in there", elicitationId: "e1" };
  const inputSchema = { url: z.string() };
  mcp.registerTool(
    "link",
    { description: "asks to open a page", inputSchema },
    async ({ url }: { url: string }) => {
      const asked = mcp.server.elicitInput({ ...link, url });
      void appears("done").then(mcp.server.createElicitationCompletionNotifier(link.elicitationId));
      return said(await asked);
    },
  );

  let refusals = 1;
  mcp.registerTool("guarded", { description: "refuses until a page was opened" }, () => {
    if (refusals-- <= 0) return said("let in");
    void appears("done").then(mcp.server.createElicitationCompletionNotifier(link.elicitationId));
    throw new UrlElicitationRequiredError([{ ...link, url: "https://id.example/consent?for=1" }]);
  });

  mcp.registerTool("mortal", { description: "dies while it asks" }, async () => {
    void appears("die").then(() => Deno.exit(3));
    return said(await mcp.server.elicitInput({ message: "Quick!", requestedSchema: anything }));
  });

  mcp.registerTool("fickle", { description: "takes its question back" }, async () => {
    const back = new AbortController();
    void appears("back").then(() => back.abort());
    const asked = mcp.server.elicitInput({ message: "Or not?", requestedSchema: anything }, {
      signal: back.signal,
    });
    return said(await asked.catch(() => "taken back"));
  });

  await mcp.connect(new StdioServerTransport());
}

if (import.meta.main) await serve();
