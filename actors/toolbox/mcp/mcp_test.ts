import assert from "node:assert/strict";
import { QuestionRaise } from "../../protocol/approval.ts";
import { ToolsKnown } from "../../protocol/tools.ts";
import type { Send } from "../../../runtime/actor.ts";
import { everything } from "../../../tests/doubles/everything_server.ts";
import { ToolboxWorld } from "../../../tests/doubles/toolbox_world.ts";
import { ToolboxConfig, toolboxPermissions } from "../config.ts";
import { mcpToolName } from "./mcp_tool.ts";

const denoDir = JSON.parse(
  new TextDecoder().decode(
    new Deno.Command(Deno.execPath(), { args: ["info", "--json"] }).outputSync().stdout,
  ),
).denoDir;

const offers = (tool: string) => (send: Send) =>
  send.type === "tools.known" && ToolsKnown.parse(send.payload).tools.some(({ name }) => name === tool);

Deno.test("a real MCP server runs in the sandbox and its tool is judged and called", async () => {
  await using world = await ToolboxWorld.open({ mcpServers: [everything()] });
  const known = await world.until(offers("mcp__everything__echo"));

  const callId = await world.propose("mcp__everything__echo", { message: "over the wire" });
  await world.grant(callId);

  const tool = ToolsKnown.parse(known.payload).tools.find(({ name }) => name === "mcp__everything__echo");
  assert.equal(tool?.source, "mcp:everything");
  assert.equal(tool?.class, "mcp");
  const { described } = world.judged(callId);
  assert.deepEqual({ class: described.class, sandboxed: described.sandboxed, askOnce: described.askOnce }, {
    class: "mcp",
    sandboxed: true,
    askOnce: false,
  });
  assert.match(described.preview?.text ?? "", /over the wire/);
  assert.equal(world.result(callId).outcome, "finished");
  assert.match(world.result(callId).text, /over the wire/);
  const rows = await world.rows<{ state: string; unsandboxed: number }>(
    "SELECT state, unsandboxed FROM mcp_servers",
  );
  assert.deepEqual(rows.map((row) => ({ ...row })), [{ state: "ready", unsandboxed: 0 }]);
});

Deno.test("a call that comes while its server is still starting waits for it", async () => {
  await using world = await ToolboxWorld.open({ mcpServers: [everything()] });

  const result = await world.call("mcp__everything__echo", { message: "early" });

  assert.match(result.text, /early/);
});

Deno.test("a server sees neither our environment nor the network nor the workspaces", async () => {
  await using world = await ToolboxWorld.open({ mcpServers: [everything()] });
  await world.until(offers("mcp__everything__get-env"));

  const result = await world.call("mcp__everything__get-env", {});

  const env: Record<string, string> = JSON.parse(result.text);
  assert.deepEqual(Object.keys(env).sort(), ["DENO_DIR", "HOME", "LANG", "NO_COLOR", "PATH", "PWD"]);
});

Deno.test("arguments that the server refuses are a failure of the call", async () => {
  await using world = await ToolboxWorld.open({ mcpServers: [everything()] });
  await world.until(offers("mcp__everything__echo"));

  const result = await world.call("mcp__everything__echo", { message: 7 });

  assert.equal(result.outcome, "failed");
});

Deno.test("cancelling a call of a server answers cancelled", async () => {
  await using world = await ToolboxWorld.open({ mcpServers: [everything()] });
  const name = "mcp__everything__trigger-long-running-operation";
  await world.until(offers(name));
  const callId = await world.propose(name, { duration: 60, steps: 2 });
  const running = world.grant(callId);
  await world.untilRows<{ state: string }>(
    "SELECT state FROM tool_calls",
    (rows) => rows[0]?.state === "executing",
  );

  await world.cancel(callId);
  await running;

  assert.equal(world.result(callId).outcome, "cancelled");
});

Deno.test("a server's form is a question to a person, and the answer reaches the server", async () => {
  await using world = await ToolboxWorld.open({ mcpServers: [everything()] });
  const name = "mcp__everything__trigger-elicitation-request";
  await world.until(offers(name));
  const callId = await world.propose(name, {});
  const running = world.grant(callId);
  const asked = await world.until((send) => send.type === "question.raise");
  const raise = QuestionRaise.parse(asked.payload);

  const answer = { callId, outcome: "answered", answer: "name: Ada Lovelace\ncheck: yes", by: "Ada" };
  await world.deliver({ type: "question.answered", from: "approval", payload: answer });
  await running;

  assert.equal(raise.kind, "elicitation");
  assert.equal(raise.conversation, "c1");
  assert.match(raise.question, /- String: Your full, legal name\n/);
  assert.equal(world.result(callId).outcome, "finished");
  assert.match(world.result(callId).text, /Ada Lovelace/);
});

Deno.test("a call that is cancelled while its form is open ends at once", async () => {
  await using world = await ToolboxWorld.open({ mcpServers: [everything()] });
  const name = "mcp__everything__trigger-elicitation-request";
  await world.until(offers(name));
  const callId = await world.propose(name, {});
  const running = world.grant(callId);
  await world.until((send) => send.type === "question.raise");

  await world.cancel(callId);
  await running;
  await world.deliver({
    type: "question.answered",
    from: "approval",
    payload: { callId, outcome: "cancelled" },
  });

  assert.equal(world.result(callId).outcome, "cancelled");
});

Deno.test("a server that takes too long is a failure, and the call is withdrawn", async () => {
  await using world = await ToolboxWorld.open({ mcpServers: [everything({ timeoutMs: 2_000 })] });
  const name = "mcp__everything__trigger-long-running-operation";
  await world.until(offers(name));

  const result = await world.call(name, { duration: 60, steps: 2 });

  assert.equal(result.outcome, "failed");
  assert.match(result.text, /did not answer within 2 s/);
});

Deno.test("a server that dies is withdrawn, started again and offered again", async () => {
  const script = `
    import sys, json, os
    count = len(os.listdir('.'))
    open(str(count), 'w').close()
    for line in sys.stdin:
      m = json.loads(line)
      def say(result): print(json.dumps({'jsonrpc': '2.0', 'id': m['id'], 'result': result}), flush=True)
      if m.get('method') == 'initialize':
        say({'protocolVersion': m['params']['protocolVersion'], 'capabilities': {'tools': {'listChanged': True}},
             'serverInfo': {'name': 'mortal', 'version': '1'}})
      elif m.get('method') == 'tools/list':
        say({'tools': [{'name': 'die%d' % count, 'description': 'dies', 'inputSchema': {'type': 'object'}}]})
      elif m.get('method') == 'tools/call':
        print('about to die', file=sys.stderr, flush=True); os._exit(3)
  `.replaceAll("\n    ", "\n");
  const server = everything({
    name: "mortal",
    command: "/usr/bin/python3",
    args: ["-c", script],
    readOnly: [],
  });
  await using world = await ToolboxWorld.open({ mcpServers: [server] });
  await world.until(offers("mcp__mortal__die0"));

  const result = await world.call("mcp__mortal__die0", {});
  await world.until(offers("mcp__mortal__die1"));
  const gone = await world.propose("mcp__mortal__die0", {});

  assert.equal(result.outcome, "failed");
  assert.equal(world.result(gone).outcome, "invalid");
});

Deno.test("a server that cannot start is down and says why, and holds up nothing", async () => {
  const server = everything({ name: "broken", command: "/usr/bin/false-not-there", args: [], readOnly: [] });
  await using world = await ToolboxWorld.open({ mcpServers: [server] });

  const result = await world.call("update_plan", { items: [{ text: "t", status: "pending" }] });
  const rows = await world.untilRows<{ state: string; detail: string | null }>(
    "SELECT state, detail FROM mcp_servers",
    (rows) => rows[0]?.state === "down",
  );

  assert.equal(result.outcome, "finished");
  assert.match(rows[0]?.detail ?? "", /false-not-there/);
});

Deno.test("without a sandbox a server that needs one is not started", async () => {
  const bwrap = "/nonexistent/bwrap";
  await using world = await ToolboxWorld.open({ bwrap, mcpServers: [everything()] });

  const rows = await world.untilRows<{ state: string }>(
    "SELECT state FROM mcp_servers",
    (rows) => rows.length > 0,
  );

  assert.equal(rows[0]?.state, "blocked");
});

Deno.test("an unsandboxed server is marked as such everywhere", async () => {
  const server = everything({ unsandboxed: true, env: { DENO_DIR: denoDir, NO_COLOR: "1" } });
  await using world = await ToolboxWorld.open({ mcpServers: [server] });
  await world.until(offers("mcp__everything__echo"));

  const callId = await world.propose("mcp__everything__echo", { message: "hi" });

  assert.equal(world.judged(callId).described.sandboxed, false);
  const rows = await world.rows<{ unsandboxed: number }>("SELECT unsandboxed FROM mcp_servers");
  assert.equal(rows[0]?.unsandboxed, 1);
});

Deno.test("a server is reached over HTTP with the configured headers", async () => {
  const seen: string[] = [];
  const answers: Readonly<Record<string, unknown>> = {
    "initialize": {
      protocolVersion: "2025-06-18",
      capabilities: { tools: {} },
      serverInfo: { name: "h", version: "1" },
    },
    "tools/list": {
      tools: [{
        name: "look",
        inputSchema: { type: "object" },
        annotations: { readOnlyHint: true, openWorldHint: false },
      }],
    },
    "tools/call": {
      content: [{ type: "text", text: "seen" }, { type: "image", data: "AAAA", mimeType: "image/png" }],
    },
  };
  await using server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
    if (request.method !== "POST") return new Response(null, { status: 405 });
    const { id, method } = await request.json();
    seen.push(`${method} ${request.headers.get("x-key")}`);
    if (id === undefined) return new Response(null, { status: 202 });
    return Response.json({ jsonrpc: "2.0", id, result: answers[method] ?? {} });
  });
  const url = `http://127.0.0.1:${server.addr.port}/mcp`;
  const config = { kind: "http", name: "web", url, headers: { "x-key": "k" }, timeoutMs: 10_000 } as const;
  await using world = await ToolboxWorld.open({ mcpServers: [config] });
  await world.until(offers("mcp__web__look"));

  const callId = await world.propose("mcp__web__look", {});
  await world.grant(callId);

  assert.equal(world.judged(callId).described.risk, "medium", "its word alone makes nothing harmless");
  assert.deepEqual(world.judged(callId).described.hints, { readOnly: true, openWorld: false });
  assert.equal(world.result(callId).text, "seen\n[image image/png, 3 bytes]");
  assert.deepEqual(seen, ["initialize k", "notifications/initialized k", "tools/list k", "tools/call k"]);
});

Deno.test("a server that would see the workspaces does not start", async () => {
  const folder = await Deno.makeTempDir();
  const above = await Deno.realPath(`${folder}/..`);
  await Deno.remove(folder);
  for (const path of ["/", above, `${above}/`]) {
    await using world = await ToolboxWorld.open({ mcpServers: [everything({ readOnly: [path] })] });
    const rows = await world.untilRows<{ state: string; detail: string }>(
      "SELECT state, detail FROM mcp_servers",
      (found) => found.length > 0,
    );
    assert.equal(rows[0]?.state, "blocked", path);
    assert.match(rows[0]?.detail ?? "", /would see the conversations' files/);
  }
});

Deno.test("names of tools are what every provider takes", () => {
  assert.equal(mcpToolName("docs", "search/all things"), "mcp__docs__search_all_things");
  assert.equal(mcpToolName("docs", "x".repeat(100)).length, 64);
});

Deno.test("the toolbox works with exactly the permissions that it declares", async () => {
  const folder = await Deno.realPath(await Deno.makeTempDir({ prefix: "callboard_toolbox_" }));
  try {
    const config = ToolboxConfig.parse({ workspaces: `${folder}/workspaces`, mcpServers: [everything()] });
    const calls = [
      { tool: "write_file", args: { path: "a/f", content: "written" } },
      { tool: "exec_command", args: { command: "cat a/f; exec sleep 60", timeoutSeconds: 1 } },
      { tool: "mcp__everything__echo", args: { message: "echoed" } },
    ].map((call) => JSON.stringify(call));
    const program = new URL("../../../tests/doubles/toolbox_alone.ts", import.meta.url).pathname;
    const flags = ["run", "--no-prompt", "--cached-only", ...toolboxPermissions(config)];

    const output = await new Deno.Command(Deno.execPath(), {
      args: [...flags, program, JSON.stringify(config), ...calls],
    }).output();

    const results = new TextDecoder().decode(output.stdout).trim().split("\n").map((line) => JSON.parse(line))
      .filter((message) => message.type === "tool.result").map((message) => message.payload.text);
    assert.equal(results.length, 3, new TextDecoder().decode(output.stderr));
    assert.match(results[0], /Wrote \/a\/f/);
    assert.match(results[1], /^Exit code: 124[^]*written/);
    assert.match(results[2], /echoed/);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
