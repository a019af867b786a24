import assert from "node:assert/strict";
import { ToolboxWorld } from "../../tests/doubles/toolbox_world.ts";
import { ToolboxConfig, toolboxPermissions } from "./config.ts";

Deno.test("the toolbox says at its start what it offers", async () => {
  await using world = await ToolboxWorld.open();

  const known = await world.until((send) => send.type === "tools.known");

  const text = JSON.stringify(known.payload);
  for (const tool of ["exec_command", "read_file", "edit_file", "ask_user", "schedule"]) {
    assert.match(text, new RegExp(`"name":"${tool}"`));
  }
  assert.match(text, /"sandbox":"bwrap"/);
});

for (
  const [what, tool, args, message] of [
    ["an unknown tool", "fly", {}, /There is no tool "fly"/],
    ["arguments that are no JSON", "read_file", "{path:", /no JSON/],
    ["arguments that are no object", "read_file", "[1]", /one JSON object/],
    ["a missing argument", "read_file", {}, /Arguments of read_file are not valid: path: /],
    ["an unknown argument", "read_file", { path: "x", host: true }, /host/],
    ["half a character", "write_file", `{"path":"x","content":"\\ud800"}`, /surrogate/],
    [
      "a time without an offset",
      "schedule",
      { key: "k", prompt: "p", kind: "once", at: "2026-01-01T10:00" },
      /offset/,
    ],
    ["an interval that is missing", "schedule", { key: "k", prompt: "p", kind: "every" }, /everySeconds/],
  ] as const
) {
  Deno.test(`${what} goes straight back as invalid`, async () => {
    await using world = await ToolboxWorld.open();

    const callId = await world.propose(tool, args);

    assert.equal(world.result(callId).outcome, "invalid");
    assert.match(world.result(callId).text, message);
    assert.equal(await world.state(callId), "failed");
    assert.equal(world.sent.some((send) => send.type === "tool.judge"), false);
  });
}

Deno.test("a proposal that is delivered twice is judged once", async () => {
  await using world = await ToolboxWorld.open();
  const callId = await world.propose("read_file", { path: "f" });

  const payload = { callId, turnId: "turn-1", tool: "read_file", arguments: `{"path":"f"}` };
  await world.deliver({ type: "tool.propose", from: "conversation/c1", payload }, true);

  assert.equal(world.sent.filter((send) => send.type === "tool.judge").length, 1);
});

Deno.test("a call is judged as what began its turn, edited or not", async () => {
  await using world = await ToolboxWorld.open();
  const person = await world.propose("list_files", {});
  const timer = await world.propose("list_files", {}, "c1", "schedule");

  assert.deepEqual([world.judged(person).trigger, world.judged(timer).trigger], ["person", "schedule"]);
  const edit = {
    callId: timer,
    turnId: "turn-1",
    conversation: "c1",
    itemId: "i",
    tool: "list_files",
    arguments: "{}",
  };
  await world.deliver({ type: "tool.redescribe", from: "approval", payload: edit });
  assert.deepEqual([world.judged(timer).editedFor, world.judged(timer).trigger], ["i", "schedule"]);
});

Deno.test("a conversation can neither propose nor cancel another one's call", async () => {
  await using world = await ToolboxWorld.open();
  const callId = await world.propose("exec_command", { command: "true" });

  const cancel = { callId, reason: "mine now" };
  await world.deliver({ type: "tool.cancel", from: "conversation/c2", lane: "control", payload: cancel });

  assert.equal(await world.state(callId), "described");
  assert.equal(world.sent.some((send) => send.type === "tool.result"), false);
});

Deno.test("a result says what let its call run, and approval learns whose words led to it", async () => {
  await using world = await ToolboxWorld.open();
  const requestedBy = [{ kind: "web", id: "u1" }] as const;
  const callId = await world.propose("list_files", {}, "c1", "person", requestedBy);

  await world.grant(callId);

  assert.deepEqual(world.judged(callId).requestedBy, requestedBy);
  assert.deepEqual(world.result(callId).allowed, { by: "rule", ref: "rule-1" });
});

Deno.test("a file that changed since it was approved is not written", async () => {
  await using world = await ToolboxWorld.open();
  await Deno.writeTextFile(`${world.workspace()}/f`, "before");
  const callId = await world.propose("write_file", { path: "f", content: "after" });

  await Deno.writeTextFile(`${world.workspace()}/f`, "meanwhile");
  await world.grant(callId);

  assert.equal(world.result(callId).outcome, "failed");
  assert.match(world.result(callId).text, /changed since it was approved/);
  assert.equal(await Deno.readTextFile(`${world.workspace()}/f`), "meanwhile");
  assert.equal(await world.state(callId), "failed");
});

Deno.test("a grant for another digest runs nothing", async () => {
  await using world = await ToolboxWorld.open();
  const callId = await world.propose("exec_command", { command: "touch ran" });

  await world.grant(callId, { digest: "0".repeat(64) });

  assert.equal(world.result(callId).outcome, "failed");
  await assert.rejects(Deno.stat(`${world.workspace()}/ran`));
});

Deno.test("a call that was let run before everything was suspended is given back and does not begin", async () => {
  await using world = await ToolboxWorld.open();
  const callId = await world.propose("exec_command", { command: "echo ran >> log" });
  const suspended = "INSERT INTO settings (key, value, at) VALUES ('suspended', '{}', 1)";
  await world.db.batch([{ sql: suspended, args: [] }]);

  await world.grant(callId);

  assert.equal(await world.state(callId), "judged");
  await assert.rejects(Deno.stat(`${world.workspace()}/log`));
  const held = world.sent.find((send) => send.type === "tool.held");
  assert.deepEqual(Object.keys(held?.payload ?? {}).sort(), ["callId", "conversation", "grant"]);
  await world.db.batch([{ sql: "DELETE FROM settings WHERE key = 'suspended'", args: [] }]);
  await world.grant(callId, { resumed: true });
  assert.equal(await Deno.readTextFile(`${world.workspace()}/log`), "ran\n");
});

Deno.test("the same call in two conversations has two digests", async () => {
  await using world = await ToolboxWorld.open();

  const one = await world.propose("exec_command", { command: "true" }, "c1");
  const two = await world.propose("exec_command", { command: "true" }, "c2");
  const same = await world.propose("exec_command", { command: "true" }, "c1");

  assert.notEqual(world.judged(one).digest, world.judged(two).digest);
  assert.equal(world.judged(one).digest, world.judged(same).digest);
});

Deno.test("a call that may have run is answered as unknown and not repeated", async () => {
  await using world = await ToolboxWorld.open();
  const callId = await world.propose("exec_command", { command: "echo ran >> log; touch begun; sleep 60" });
  const running = world.grant(callId);
  await fileAppears(`${world.workspace()}/begun`);

  await world.restart();
  await running;
  await world.redeliver(callId);

  assert.equal(world.result(callId).outcome, "unknown");
  assert.match(world.result(callId).text, /may have run/);
  assert.equal(await Deno.readTextFile(`${world.workspace()}/log`), "ran\n");
});

Deno.test("a read that was interrupted is done again", async () => {
  await using world = await ToolboxWorld.open();
  await Deno.writeTextFile(`${world.workspace()}/f`, "text");
  const callId = await world.propose("read_file", { path: "f" });
  await world.grant(callId);
  await world.restart();
  await world.db.batch([{ sql: "UPDATE tool_calls SET state = 'executing', outcome = NULL", args: [] }]);

  await world.redeliver(callId);

  assert.equal(world.result(callId).text, "text");
  assert.equal(await world.state(callId), "finished");
});

Deno.test("a grant that is delivered after the end changes nothing", async () => {
  await using world = await ToolboxWorld.open();
  const callId = await world.propose("exec_command", { command: "echo ran >> log" });
  await world.grant(callId);

  await world.grant(callId, { resumed: true });

  assert.equal(world.result(callId).outcome, "finished");
  assert.equal(await Deno.readTextFile(`${world.workspace()}/log`), "ran\n");
});

Deno.test("cancelling a running call kills its process tree and answers cancelled", async () => {
  await using world = await ToolboxWorld.open();
  const callId = await world.propose("exec_command", {
    command: "trap 'echo tidy > tidied; exit' TERM; touch begun; setsid sleep 60 & wait",
  });
  const running = world.grant(callId);
  await fileAppears(`${world.workspace()}/begun`);

  await world.cancel(callId);
  await running;

  const result = world.result(callId);
  assert.deepEqual({ outcome: result.outcome, exitCode: result.exitCode }, {
    outcome: "cancelled",
    exitCode: 137,
  });
  assert.equal(await world.state(callId), "cancelled");
  assert.equal(await Deno.readTextFile(`${world.workspace()}/tidied`), "tidy\n");
});

Deno.test("a grant that was on its way when the turn was cancelled does not run", async () => {
  await using world = await ToolboxWorld.open();
  const callId = await world.propose("exec_command", { command: "touch ran" });

  await world.cancel(callId);
  await world.grant(callId);

  assert.equal(world.result(callId).outcome, "cancelled");
  assert.equal(await world.state(callId), "cancelled");
  await assert.rejects(Deno.stat(`${world.workspace()}/ran`));
});

Deno.test("a toolbox that must stop kills what runs and says that the outcome is unknown", async () => {
  await using world = await ToolboxWorld.open();
  const callId = await world.propose("exec_command", { command: "touch begun; sleep 60" });
  const running = world.grant(callId);
  await fileAppears(`${world.workspace()}/begun`);

  await world.shutDown();
  await running;

  assert.equal(world.result(callId).outcome, "unknown");
});

Deno.test("calls of two conversations run at once", async () => {
  await using world = await ToolboxWorld.open();
  const one = await world.propose("exec_command", { command: "touch a; sleep 60" }, "c1");
  const running = world.grant(one);
  await fileAppears(`${world.workspace()}/a`);

  const two = await world.call("exec_command", { command: "echo quick" }, "c2");
  await world.cancel(one);
  await running;

  assert.match(two.text, /quick/);
});

Deno.test("a question is asked once and answered across a restart", async () => {
  await using world = await ToolboxWorld.open();
  const callId = await world.propose("ask_user", { question: "Which one?", suggestions: ["a", "b"] });
  await world.grant(callId);
  const asked = world.sent.filter((send) => send.type === "question.raise");
  assert.equal(asked.length, 1);
  assert.equal(await world.state(callId), "executing");

  await world.restart();
  await world.redeliver(callId);
  const answer = { callId, outcome: "answered", answer: "b", by: "Ada" };
  await world.deliver({ type: "question.answered", from: "approval", payload: answer });
  await world.deliver({ type: "question.answered", from: "approval", payload: answer }, true);

  assert.equal(world.sent.some((send) => send.type === "question.raise"), false);
  assert.deepEqual(world.result(callId), { callId, stopTurn: false, outcome: "finished", text: "b" });
});

Deno.test("a question can be cancelled while it waits", async () => {
  await using world = await ToolboxWorld.open();
  const callId = await world.propose("ask_user", { question: "Which one?" });
  await world.grant(callId);

  await world.cancel(callId);

  assert.equal(world.result(callId).outcome, "cancelled");
});

Deno.test("schedules are asked of the scheduler, whose answer is the result", async () => {
  await using world = await ToolboxWorld.open({ timeZone: "Europe/Berlin" });
  const callId = await world.propose("schedule", {
    key: "daily",
    prompt: "Look",
    kind: "cron",
    expression: "0 9 * * *",
  });
  await world.grant(callId);
  const put = await world.until((send) => send.type === "schedule.put");

  const spec = { kind: "cron", expression: "0 9 * * *" };
  const view = { key: "daily", spec, prompt: "Look", timeZone: "Europe/Berlin", nextAt: 0 };
  const answer = { requestId: callId, ok: true, message: "Scheduled.", schedules: [view] };
  await world.deliver({ type: "schedule.answer", from: "scheduler", payload: answer });

  assert.deepEqual(put.payload, {
    requestId: callId,
    callId,
    conversation: "c1",
    key: "daily",
    spec,
    prompt: "Look",
    timeZone: "Europe/Berlin",
    createdBy: "conversation/c1",
  });
  assert.match(
    world.result(callId).text,
    /^Scheduled\.\n- daily: cron 0 9 \* \* \* \(Europe\/Berlin\), next 1970/,
  );
});

Deno.test("a request that reached nobody ends its call", async () => {
  await using world = await ToolboxWorld.open();
  const callId = await world.propose("list_schedules", {});
  await world.grant(callId);

  const failure = { request: "m", type: "schedule.list", code: "poison", message: "dead letter", callId };
  await world.deliver({ type: "request.failed", from: "supervisor", payload: failure });

  assert.equal(world.result(callId).outcome, "failed");
});

Deno.test("edited arguments are described anew without moving the row", async () => {
  await using world = await ToolboxWorld.open();
  const callId = await world.propose("exec_command", { command: "rm -rf ." });
  const edited = { callId, turnId: "turn-1", conversation: "c1", itemId: "item-1", tool: "exec_command" };

  await world.deliver({
    type: "tool.redescribe",
    from: "approval",
    payload: { ...edited, arguments: `{"command":"ls"}` },
  });
  await world.deliver({ type: "tool.redescribe", from: "approval", payload: { ...edited, arguments: `{}` } });

  const judge = world.judged(callId);
  assert.equal(judge.editedFor, "item-1");
  assert.deepEqual(judge.described.argv, ["bash", "-c", "ls"]);
  assert.equal(await world.state(callId), "described");
  assert.equal(world.sent.at(-1)?.type, "tool.undescribed");
});

Deno.test("a toolbox whose lease may have passed on begins nothing", async () => {
  await using world = await ToolboxWorld.open();
  const callId = await world.propose("exec_command", { command: "touch ran" });
  world.loseLease();

  await assert.rejects(world.grant(callId), /lease/);

  await assert.rejects(Deno.stat(`${world.workspace()}/ran`));
  assert.equal(await world.state(callId), "judged");
});

Deno.test("the permissions name what is configured and nothing else", () => {
  const config = ToolboxConfig.parse({
    workspaces: "/data/workspaces",
    mcpServers: [
      { kind: "http", name: "docs", url: "https://docs.example:8443/mcp" },
      { kind: "stdio", name: "inside", command: "node" },
      { kind: "stdio", name: "bare", command: "/opt/bare", unsandboxed: true },
    ],
  });

  assert.deepEqual(toolboxPermissions(config), [
    "--allow-read=/data/workspaces",
    "--allow-write=/data/workspaces",
    "--allow-run=/usr/bin/bwrap,/bin/bash,/opt/bare",
    "--allow-net=docs.example:8443",
  ]);
});

/** Resolves when the file is there: the call has begun. */
async function fileAppears(path: string): Promise<void> {
  const folder = path.slice(0, path.lastIndexOf("/"));
  using watcher = Deno.watchFs(folder);
  const isThere = () => Deno.stat(path).then(() => true, () => false);
  if (await isThere()) return;
  for await (const _ of watcher) if (await isThere()) return;
}
