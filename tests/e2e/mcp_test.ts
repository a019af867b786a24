/**
 * A real MCP server from npm, started by the toolbox over stdio inside the sandbox: one of its tools is called by the model, waits for a
 * person, runs, and its result is in the answer.
 */
import assert from "node:assert/strict";
import { everything } from "../doubles/everything_server.ts";
import { World } from "./world.ts";

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
