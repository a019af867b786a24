/** Proves that policy is only ever changed by its actors, and what a caller is told meanwhile. */
import assert from "node:assert/strict";
import { type Bench, withBench } from "../tests/doubles/edge_bench.ts";
import { ANSWER_MS } from "./commands.ts";

const rule = { action: "deny", toolPattern: "exec_command" };

/** Answers the next command as approval or the scheduler would, once it is there. */
async function answerNext(bench: Bench, type: string, payload: unknown): Promise<void> {
  for (;;) {
    const [command] = await bench.rows<{ id: string; to_ref: string }>(
      "SELECT id, to_ref FROM messages WHERE from_ref = 'edge' AND state = 'queued'",
    );
    if (!command) {
      await new Promise<void>((resolve) => setImmediate(resolve));
      continue;
    }
    await bench.run("UPDATE messages SET state = 'done' WHERE id = ?", command.id);
    await bench.run(
      `INSERT INTO messages (id, v, to_ref, from_ref, type, lane, payload, cause, at) VALUES (?, 1, 'edge', ?, ?, 1, ?, ?, 1)`,
      `answer-${command.id}`,
      command.to_ref,
      type,
      JSON.stringify(payload),
      command.id,
    );
    bench.app.notify();
    return;
  }
}

Deno.test("a change that approval carries out in time is a 200 with the new id", () =>
  withBench(async (bench) => {
    await bench.lease();
    const owner = await bench.owner();

    const [answer] = await Promise.all([
      owner.post("/api/rules", rule),
      answerNext(bench, "policy.done", { ok: true, id: "r9" }),
    ]);

    assert.equal(answer.status, 200);
    const { command, id } = await answer.json();
    assert.equal(id, "r9");
    const [sent] = await bench.rows<{ id: string; type: string; payload: string }>(
      "SELECT * FROM messages WHERE to_ref = 'approval'",
    );
    assert.equal(sent?.id, command);
    assert.equal(sent?.type, "approval.policy");
    const payload = JSON.parse(sent?.payload ?? "");
    assert.equal(payload.by.userId, "owner");
    assert.equal(payload.by.role, "owner");
    assert.equal(payload.command.kind, "rule.create");
    assert.equal(payload.command.rule.groupId, "default");
  }));

Deno.test("a change that approval refuses is that refusal", () =>
  withBench(async (bench) => {
    await bench.lease();
    const owner = await bench.owner();
    const refusal = { ok: false, code: "not_found", message: "There is no such rule" };

    const [answer] = await Promise.all([
      owner.send("DELETE", "/api/rules/r1"),
      answerNext(bench, "policy.done", refusal),
    ]);

    assert.equal(answer.status, 404);
    assert.deepEqual(await answer.json(), { error: { code: "not_found", message: "There is no such rule" } });
  }));

Deno.test("a change that takes longer than five seconds is a 202 that can be asked for", () =>
  withBench(async (bench) => {
    await bench.lease();
    const owner = await bench.owner();

    const waiting = owner.post("/api/rules", rule);
    let answer: Response | undefined;
    waiting.then((response) => answer = response);
    const began = bench.clock.now();
    while (answer === undefined) {
      if (bench.clock.nextAt !== undefined) await bench.clock.advance(100);
      await new Promise<void>((resolve) => setImmediate(resolve));
    }

    assert.equal(answer.status, 202);
    assert.ok(bench.clock.now() - began >= ANSWER_MS);
    const { command } = await answer.json();
    const ask = async () => await (await owner.get(`/api/commands/${command}`)).json();
    assert.deepEqual(await ask(), { command, state: "pending" });
    await answerNext(bench, "policy.done", { ok: true, id: "r9" });
    assert.deepEqual(await ask(), { command, state: "done", id: "r9" });
  }));

Deno.test("while the supervisor is away no command is sent", () =>
  withBench(async (bench) => {
    const owner = await bench.owner();

    const answer = await owner.post("/api/rules", rule);

    assert.equal(answer.status, 503);
    assert.equal((await answer.json()).error.code, "supervisor_away");
    assert.equal((await bench.rows("SELECT 1 FROM messages")).length, 0);
  }));

Deno.test("a command that went to the dead letters is told as failed", () =>
  withBench(async (bench) => {
    await bench.lease();
    const owner = await bench.owner();
    const failure = {
      request: "x",
      type: "approval.policy",
      code: "poison",
      message: "It could not be handled",
    };

    const [answer] = await Promise.all([
      owner.post("/api/rules", rule),
      answerNext(bench, "request.failed", failure),
    ]);

    assert.equal(answer.status, 500);
    assert.equal((await answer.json()).error.message, "It could not be handled");
  }));

Deno.test("rules are listed in the order in which they are looked at, and explained by the judge itself", () =>
  withBench(async (bench) => {
    await bench.run("INSERT INTO rule_groups VALUES ('default', 'Default', NULL, 1)");
    const insert =
      `INSERT INTO rules (id, group_id, layer, ordinal, priority, action, tool_pattern, path_pattern, argv_prefix, created_by,
      created_at, updated_at) VALUES (?, 'default', ?, 0, ?, ?, ?, ?, ?, 'seed', 1, 1)`;
    await bench.run(insert, "late", "normal", 200n, "ask", "*", null, null);
    await bench.run(insert, "git", "normal", 100n, "allow", "exec_command", null, '["git","status"]');
    await bench.run(insert, "secrets", "protected", 500n, "deny", "*", "/**/.ssh/*", null);
    await bench.run(
      `INSERT INTO known_tools VALUES ('exec_command', 'builtin', 'exec', 'Runs', '{"type":"object"}', 'h', NULL, 0, NULL, 1, 1, 1, NULL)`,
    );
    const owner = await bench.owner();

    const { rules } = await (await owner.get("/api/rules")).json();
    const explain = async (query: string) => await (await owner.get(`/api/rules/explain?${query}`)).json();

    assert.deepEqual(rules.map((each: { id: string }) => each.id), ["secrets", "git", "late"]);
    assert.deepEqual(rules[1].argvPrefix, ["git", "status"]);
    const allowed = await explain("tool=exec_command&argv=git%20status");
    assert.deepEqual([allowed.outcome, allowed.ref], ["allow", "git"]);
    assert.equal((await explain("tool=exec_command&argv=rm%20-rf")).ref, "late");
    const denied = await explain("tool=exec_command&argv=git%20status&path=/home/.ssh/id");
    assert.deepEqual([denied.outcome, denied.ref], ["deny", "secrets"]);
    assert.equal((await explain("tool=never_heard_of")).outcome, "ask");
    assert.equal((await owner.get("/api/rules/explain")).status, 400);
    const { tools } = await (await owner.get("/api/tools")).json();
    assert.deepEqual(tools[0].parameters, { type: "object" });
  }));

Deno.test("only bypasses in force are shown, and an approver may end one in an entitled channel", () =>
  withBench(async (bench) => {
    await bench.lease();
    await bench.conversation("seen");
    await bench.conversation("other", 8);
    const insert =
      "INSERT INTO bypasses VALUES (?, ?, 'tool', 'exec_command', 'owner', 'web', 0, 1, ?, ?, NULL)";
    const now = bench.clock.now();
    await bench.run(insert, "b1", "seen", now + 1000, null);
    await bench.run(insert, "b2", "seen", now, null);
    await bench.run(insert, "b3", "seen", now + 1000, 1n);
    await bench.run(insert, "b4", "other", now + 1000, null);
    const approver = await bench.person("approver");

    const { bypasses } = await (await approver.get("/api/bypasses")).json();
    const [ended] = await Promise.all([
      approver.send("DELETE", "/api/bypasses/b1"),
      answerNext(bench, "policy.done", { ok: true, id: "b1" }),
    ]);

    assert.deepEqual(bypasses.map((each: { id: string }) => each.id), ["b1"]);
    assert.equal(ended.status, 200);
    assert.equal((await approver.send("DELETE", "/api/bypasses/b4")).status, 404);
    assert.equal((await approver.send("DELETE", "/api/bypasses/b2")).status, 404);
  }));

Deno.test("schedules are listed with their spec and cancelled by the scheduler", () =>
  withBench(async (bench) => {
    await bench.lease();
    await bench.conversation("seen");
    const insert =
      `INSERT INTO schedules (id, conversation, key, kind, spec, prompt, time_zone, enabled, next_at, created_by, created_at,
      updated_at) VALUES (?, 'seen', ?, 'cron', ?, 'Report', 'UTC', 1, 5, 'owner', 1, 1)`;
    await bench.run(insert, "s1", "daily", '{"kind":"cron","expression":"0 9 * * *"}');
    await bench.run(insert, "s2", "odd", '{"kind":"moon"}');
    const approver = await bench.person("approver");

    const { schedules } = await (await approver.get("/api/schedules")).json();
    const done = { requestId: "x", ok: true, message: "Cancelled", schedules: [] };
    const [cancelled] = await Promise.all([
      approver.send("DELETE", "/api/schedules/s1"),
      answerNext(bench, "schedule.answer", done),
    ]);

    assert.deepEqual(schedules.map((each: { key: string }) => each.key), ["daily"]);
    assert.equal(schedules[0].conversation.title, "Title of seen");
    assert.equal(cancelled.status, 200);
    const [sent] = await bench.rows<{ payload: string }>(
      "SELECT payload FROM messages WHERE to_ref = 'scheduler'",
    );
    assert.equal(JSON.parse(sent?.payload ?? "").key, "daily");
  }));

Deno.test("stopping everything is the owner's command, not limited by rate, and everybody sees that it holds", () =>
  withBench(async (bench) => {
    await bench.lease();
    const owner = await bench.owner();
    const viewer = await bench.person("viewer");
    const state = async () => (await (await viewer.get("/api/effects")).json()).suspended;
    await bench.run("INSERT INTO rate_limits VALUES ('writes/owner', 0, ?)", BigInt(bench.clock.now()));

    const [answer] = await Promise.all([
      owner.post("/api/effects/suspend"),
      answerNext(bench, "policy.done", { ok: true }),
    ]);

    assert.equal(answer.status, 200);
    const [sent] = await bench.rows<{ payload: string }>(
      "SELECT payload FROM messages WHERE to_ref = 'approval'",
    );
    assert.deepEqual(JSON.parse(sent?.payload ?? "").command, { kind: "effects.suspend" });
    assert.equal(await state(), null);
    await bench.run(`INSERT INTO settings VALUES ('suspended', '{"by":"Owner","at":5}', 5)`);
    assert.deepEqual(await state(), { by: "Owner", at: 5 });
    await bench.run("UPDATE settings SET value = 'unreadable' WHERE key = 'suspended'");
    assert.deepEqual(await state(), { by: "unknown", at: 0 });
  }));
