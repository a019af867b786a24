/** Proves what changes policy and what a change means for calls that wait or come later; against a real database. */
import assert from "node:assert/strict";
import { sql } from "../../../store/db.ts";
import { endBypasses } from "../../../store/seeds.ts";
import { findItem } from "../../../store/queries/items.ts";
import { verifyChain } from "../../../store/queries/chain.ts";
import { callState, decided, furnished, itemState, put } from "../../../tests/doubles/approval_desk.ts";

Deno.test("a decision that policy by now denies is refused, recorded and told", async () => {
  await using desk = await furnished();
  const id = await desk.judge("a", "exec_command");
  const by = { userId: "u1", name: "Ada", surface: "web", role: "owner" };
  // The rule is first in the mailbox, yet the decision's row is there before the rule is handled.
  await desk.queue("edge", "approval.policy", {
    by,
    command: { kind: "rule.create", rule: { action: "deny", toolPattern: "exec_command" } },
  });
  assert.ok((await put(desk, id, { decision: "allow_once" })).ok);

  await desk.work();

  assert.deepEqual(await desk.sent("tool.run"), []);
  assert.equal(await itemState(desk, id), "failed");
  assert.equal(await callState(desk, "a"), "rejected");
  const refusal = await desk.row("SELECT decision FROM decisions WHERE kind = 'refusal'");
  assert.equal(refusal?.decision, "refused_by_policy");
});

Deno.test("allowing for the session adds a bypass for the exact tool first and settles what it covers", async () => {
  await using desk = await furnished();
  const a = await desk.judge("a", "exec_command");
  const b = await desk.judge("b", "exec_command");
  const c = await desk.judge("c", "write_file", { paths: [{ path: "/a", access: "write", exists: false }] });

  await decided(desk, a, { decision: "allow_session", seconds: 60 });

  assert.equal(await itemState(desk, b), "applied");
  assert.equal(await itemState(desk, c), "waiting");
  const bypass = await desk.row("SELECT scope, pattern, expires_at FROM bypasses");
  assert.deepEqual({ ...bypass }, { scope: "tool", pattern: "exec_command", expires_at: desk.now + 60_000 });
  await desk.judge("d", "exec_command");
  assert.deepEqual((await desk.sent("tool.run")).map((run) => run.payload.callId), ["a", "b", "d"]);
  desk.now += 60_000;
  assert.ok(await desk.judge("e", "exec_command"), "after its time it asks again");
});

Deno.test("a schedule's call is under no bypass, and says on its card and in the inbox what began it", async () => {
  await using desk = await furnished();
  await decided(desk, await desk.judge("a", "exec_command"), { decision: "allow_session", scope: "all" });

  const id = await desk.judge("b", "exec_command", {}, "schedule");
  await desk.restart();
  const c = await desk.judge("c", "exec_command");

  assert.ok(id, "it waits");
  assert.equal(c, undefined, "a person's call runs");
  const item = (await findItem(desk.db, id))?.item;
  assert.equal(item?.trigger, "schedule");
  assert.equal((await desk.sent("card.show")).at(-1)?.payload.trigger, "schedule");
  const rule = { action: "deny", toolPattern: "exec_command", source: "schedule", priority: 1 };
  const by = { userId: "u1", name: "Ada", surface: "web", role: "owner" };
  await desk.post("edge", "approval.policy", { by, command: { kind: "rule.create", rule } });
  assert.equal(await callState(desk, "b"), "rejected");
});

Deno.test("what protected rules deny to readers is hidden from every command that runs, as the rules then are", async () => {
  await using desk = await furnished();
  const hidden = async () => (await desk.sent("tool.run")).at(-1)?.payload.hidden;
  const by = { userId: "u1", name: "Ada", surface: "web", role: "owner" };
  const id = await desk.judge("a", "exec_command");
  const rule = { action: "deny", toolPattern: "@fs_any", pathPattern: "/private/*" };
  const change = { kind: "rule.update", id: "seed-protected-1", rule };
  await desk.post("edge", "approval.policy", { by, command: change });

  await decided(desk, id, { decision: "allow_once" });
  assert.deepEqual(await hidden(), ["/private/*", "/**/.secrets/*", "/**/.ssh/*", "/**/.gnupg/*"]);

  const writers = { ...change, rule: { ...rule, toolPattern: "@fs_write" } };
  await desk.post("edge", "approval.policy", { by, command: writers });
  await decided(desk, await desk.judge("b", "exec_command"), { decision: "allow_once" });
  assert.deepEqual(await hidden(), ["/**/.secrets/*", "/**/.ssh/*", "/**/.gnupg/*"]);
});

for (
  const [scope, tool, want] of [
    ["category", "exec_command", { scope: "category", pattern: "exec" }],
    ["category", "mcp__mail__send", { scope: "tool", pattern: "mcp__mail__send" }],
    ["mcp", "mcp__mail__send", { scope: "mcp", pattern: "mail" }],
    ["mcp", "exec_command", { scope: "tool", pattern: "exec_command" }],
    ["tool", "exec_command", { scope: "tool", pattern: "exec_command" }],
    ["all", "exec_command", { scope: "all", pattern: null }],
  ] as const
) {
  Deno.test(`a session's allowance of scope ${scope} for ${tool} is one for ${want.scope} ${want.pattern ?? ""}`, async () => {
    await using desk = await furnished();

    await decided(desk, await desk.judge("a", tool), { decision: "allow_session", scope });

    assert.deepEqual({ ...await desk.row("SELECT scope, pattern FROM bypasses") }, want);
  });
}

Deno.test("a session's bypasses end with the session, and never last longer than eight hours", async () => {
  await using desk = await furnished();
  await decided(desk, await desk.judge("a", "exec_command"), { decision: "allow_session", scope: "all" });
  assert.equal((await desk.row("SELECT expires_at FROM bypasses"))?.expires_at, desk.now + 8 * 3_600_000);

  await desk.post("conversation/c2", "session.ended", { reason: "reset" });
  assert.equal(desk.state.bypasses.length, 1);
  await desk.post("conversation/c1", "session.ended", { reason: "reset" });

  assert.ok(await desk.judge("b", "exec_command"));
  assert.equal((await desk.row("SELECT ended_reason FROM bypasses"))?.ended_reason, "reset");
});

Deno.test("always allowing makes the rule that was asked for, which survives a restart", async () => {
  await using desk = await furnished();
  const id = await desk.judge("a", "exec_command", { argv: ["git", "status"] });
  const rule = {
    groupId: "default",
    priority: 100,
    action: "allow" as const,
    toolPattern: "exec_command",
    pathPattern: null,
    argvPrefix: ["git", "status"],
    agent: null,
    source: null,
    note: null,
    expiresAt: null,
    maxUses: 1,
  };

  await decided(desk, id, { decision: "allow_always", rule });
  await desk.restart();

  assert.equal(await desk.judge("b", "exec_command", { argv: ["git", "status", "-s"] }), undefined);
  assert.ok(await desk.judge("c", "exec_command", { argv: ["git", "status"] }), "its one use is spent");
  assert.ok(await desk.judge("d", "exec_command", { argv: ["git", "push"] }));
});

Deno.test("whatever policy decides without a person is in the log with its reason", async () => {
  await using desk = await furnished();
  await desk.judge("a", "read_file", { paths: [{ path: "/notes.md", access: "read", exists: true }] });
  await desk.judge("b", "read_file", { paths: [{ path: "/secrets/k", access: "read", exists: true }] });

  const rows = await desk.db.query(sql("SELECT call_id, decision, digest, body FROM decisions ORDER BY seq"));

  assert.deepEqual(rows.rows.map((row) => [...row].map(String)), [
    ["a", "allow", "digest-a", `{"by":"fast_path","ref":"workspace_read"}`],
    ["b", "deny", "digest-b", `{"by":"rule","ref":"seed-protected-1"}`],
  ]);
});

Deno.test("the offered tools are those that policy does not deny outright", async () => {
  await using desk = await furnished();
  const by = { userId: "u1", name: "Ada", surface: "web", role: "owner" };
  const rule = { action: "deny", toolPattern: "mcp__*" };
  await desk.post("edge", "approval.policy", { by, command: { kind: "rule.create", rule } });
  await desk.restart();

  await desk.post("conversation/c1", "tools.list", { turnId: "t1" });

  const [listed] = await desk.sent("tools.listed");
  assert.ok(Array.isArray(listed?.payload.tools));
  assert.deepEqual(listed.payload.tools.map((tool) => [tool.name, tool.parallel]), [
    ["ask_user", false],
    ["exec_command", false],
    ["read_file", true],
    ["write_file", false],
  ]);
});

Deno.test("while everything is suspended allowed calls are held, over a restart too, and run once when it is lifted", async () => {
  await using desk = await furnished();
  const say = (from: string, kind: string, by: Record<string, unknown>) =>
    desk.post(from, "approval.policy", { by: { name: "Ada", surface: "web", ...by }, command: { kind } });
  const readNotes = { paths: [{ path: "/notes.md", access: "read" as const, exists: true }] };
  await desk.judge("before", "read_file", readNotes);

  await say("zulip", "effects.suspend", { zulipUserId: 13, role: "owner" });
  assert.equal(desk.state.suspended, null, "a viewer who claims to be the owner over Zulip is not believed");
  await say("zulip", "effects.suspend", { zulipUserId: 11 });
  await desk.judge("a", "read_file", readNotes);
  const asked = await desk.judge("b", "exec_command");
  await decided(desk, asked, { decision: "allow_once" });
  await desk.judge("c", "read_file", readNotes);
  await desk.restart();
  await desk.post("conversation/c1", "tool.cancel", { callId: "c", reason: "stopped" });
  assert.deepEqual((await desk.sent("tool.run")).map(({ payload }) => payload.callId), ["before"]);
  assert.equal(await itemState(desk, asked), "applied");

  await say("edge", "effects.resume", { userId: "u2", role: "approver" });
  assert.ok(desk.state.suspended, "only the owner lifts it");
  await say("edge", "effects.resume", { userId: "u1", role: "owner" });

  // `before` had not ended, so it is sent once more: the toolbox begins a call once, whatever it is sent.
  const runs = (await desk.sent("tool.run")).map(({ payload }) => payload.callId);
  assert.deepEqual([...new Set(runs)], ["before", "a", "b"]);
  assert.equal((await desk.sent("policy.done")).length, 2);
  assert.equal((await verifyChain(desk.db)).ok, true);
});

Deno.test("a call that the toolbox may not begin is held again and goes on its way when everything is lifted, over a restart too", async () => {
  await using desk = await furnished();
  const say = (kind: string, zulipUserId = 11) =>
    desk.post("zulip", "approval.policy", {
      by: { name: "Ada", surface: "zulip", zulipUserId },
      command: { kind },
      tell: "c1",
    });
  await desk.judge("a", "read_file", { paths: [{ path: "/notes.md", access: "read", exists: true }] });
  const [sent] = await desk.sent("tool.run");

  await say("effects.suspend");
  await desk.post("toolbox", "tool.held", sent?.payload);
  await desk.restart();
  await say("effects.resume", 13);
  assert.equal((await desk.sent("tool.run")).length, 1);
  await say("effects.resume");
  await desk.post("toolbox", "tool.held", sent?.payload);

  const runs = (await desk.sent("tool.run")).map(({ payload }) => payload);
  assert.deepEqual(runs, [sent?.payload, sent?.payload, sent?.payload], "lifted, so it comes back at once");
  const notes = (await desk.sent("topic.note")).map(({ payload }) => String(payload.text).slice(0, 12));
  assert.deepEqual(notes, ["🛑 Everythin", "Only the own", "▶️ Lifted: a"]);
});

Deno.test("what was allowed for a server's tool is void once the server says that it does something else", async () => {
  await using desk = await furnished();
  const by = { userId: "u1", name: "Ada", surface: "web", role: "owner" };
  const rule = { action: "allow", toolPattern: "mcp__mail__*" };
  const known = (name: string, schemaHash: string) =>
    desk.post("toolbox", "tools.known", {
      sandbox: "bwrap",
      tools: [{
        name,
        source: "mcp:mail",
        class: "mcp",
        description: name,
        parameters: {},
        schemaHash,
        idempotent: false,
      }],
    });
  desk.now += 1;
  await desk.post("edge", "approval.policy", { by, command: { kind: "rule.create", rule } });
  assert.equal(await desk.judge("a", "mcp__mail__send"), undefined);

  await known("mcp__mail__other", "x");
  desk.now += 1;
  await known("mcp__mail__send", "changed");
  await desk.restart();
  const item = await desk.judge("b", "mcp__mail__send", { source: "mcp:mail" });

  assert.ok(item, "it asks again");
  desk.now += 1;
  await desk.post("edge", "approval.policy", { by, command: { kind: "rule.create", rule } });
  assert.equal(
    await desk.judge("d", "mcp__mail__send"),
    undefined,
    "a rule of today holds for the tool of today",
  );
});

Deno.test("every end of a bypass is in the log: its time, its session, a person, a new lease", async () => {
  await using desk = await furnished();
  const grant = async (callId: string, tool: string) => {
    await decided(desk, await desk.judge(callId, tool), { decision: "allow_session", seconds: 60 });
    return desk.state.bypasses.at(-1)?.id;
  };
  const ends = async () => {
    const rows = await desk.db.query(
      sql(
        "SELECT decision, actor, body FROM decisions WHERE decision LIKE 'bypass.%' AND decision <> 'bypass.create' ORDER BY seq",
      ),
    );
    return rows.rows.map(([decision, actor, body]) => [decision, actor, JSON.parse(String(body)).reason]);
  };

  await grant("a", "exec_command");
  desk.now += 60_000;
  await desk.restart();
  await desk.work();
  assert.equal((await desk.row("SELECT ended_reason FROM bypasses"))?.ended_reason, "expired");
  await grant("b", "exec_command");
  await desk.post("conversation/c1", "session.ended", { reason: "stop" });
  const id = await grant("c", "exec_command");
  const by = { userId: "u1", name: "Ada", surface: "web", role: "owner" };
  await desk.post("edge", "approval.policy", { by, command: { kind: "bypass.revoke", id } });
  await grant("d", "exec_command");
  await desk.db.batch(endBypasses(desk.now));
  await desk.restart();
  desk.now += 60_000;
  await desk.work();
  await desk.restart();
  await desk.work();

  assert.deepEqual(await ends(), [
    ["bypass.end", "system", "expired"],
    ["bypass.end", "system", "stop"],
    ["bypass.revoke", "u1", undefined],
    ["bypass.end", "system", "restart"],
  ]);
  assert.equal((await verifyChain(desk.db)).ok, true);
});

Deno.test("a scope that does not fit the call narrows to its tool", async () => {
  await using desk = await furnished();
  const rows = [
    ["exec_command", "mcp", ["tool", "exec_command"]],
    ["mcp__mail__send", "category", ["tool", "mcp__mail__send"]],
    ["mcp__mail__send", "mcp", ["mcp", "mail"]],
    ["exec_command", "category", ["category", "exec"]],
  ] as const;

  for (const [index, [tool, scope, expected]] of rows.entries()) {
    await decided(desk, await desk.judge(`c${index}`, tool), { decision: "allow_session", scope });
    const made = desk.state.bypasses.at(-1);
    assert.deepEqual([made?.scope, made?.pattern], expected);
    await desk.post("conversation/c1", "session.ended", { reason: "reset" });
  }
});
