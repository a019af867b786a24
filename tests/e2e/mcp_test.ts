/**
 * A real MCP server from npm, started by the toolbox over stdio inside the sandbox: one of its tools is called by the model, waits for a
 * person, runs, and its result is in the answer.
 */
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { World } from "./world.ts";

const modules = fileURLToPath(new URL("../../node_modules", import.meta.url));
const entry = `${modules}/@modelcontextprotocol/server-everything/dist/index.js`;

/** Deno as the server's runtime: the binary and the packages are all that the sandbox lets it read. */
function everything() {
  const deno = Deno.execPath();
  return {
    kind: "stdio",
    name: "everything",
    command: deno,
    args: [
      "run",
      "--allow-all",
      "--no-config",
      "--node-modules-dir=manual",
      "--no-lock",
      "--cached-only",
      entry,
      "stdio",
    ],
    env: { DENO_NO_UPDATE_CHECK: "1", DENO_DIR: "/tmp/deno" },
    readOnly: [deno.slice(0, deno.lastIndexOf("/")), modules],
  };
}

Deno.test("a tool of an MCP server from npm waits for approval, runs, and its result is in the answer", async () => {
  await using world = await World.open({ file: { mcpServers: [everything()] } });
  await world.until(async () => {
    const { tools } = await world.get<{ tools: { name: string }[] }>("/api/tools");
    return tools.some(({ name }) => name === "mcp__everything__echo");
  });

  world.zulip.say(
    "King Hamlet",
    "general",
    "mcp",
    `@**Callboard** please\ntool:mcp__everything__echo {"message":"words-from-the-server"}`,
  );
  const item = await world.waiting();
  const decision = await world.decide(item, "allow_once");
  await decision.body?.cancel();
  const answer = await world.answered("mcp", /The tool answered/);

  assert.equal(item.tool, "mcp__everything__echo");
  assert.match(answer, /words-from-the-server/);
});
