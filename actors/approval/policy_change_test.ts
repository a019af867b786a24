/** Proves what changes policy and what a change means for calls that wait or come later; against a real database. */
import assert from "node:assert/strict";
import { sql } from "../../store/db.ts";
import { verifyChain } from "../../store/queries/chain.ts";
import { callState, decided, furnished, itemState, put } from "../../tests/doubles/approval_desk.ts";

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

Deno.test("policy commands are the owner's, are answered, and are entries of the chain", async () => {
  await using desk = await furnished();
  const command = (role: string, body: unknown) =>
    desk.post("edge", "approval.policy", {
      by: { userId: "u1", name: "Ada", surface: "web", role },
      command: body,
    });
  const rule = { action: "allow", toolPattern: "write_file", pathPattern: "/out/*" };

  await command("approver", { kind: "rule.create", rule });
  await command("owner", { kind: "rule.create", rule: { ...rule, toolPattern: "*_file" } });
  await command("owner", { kind: "rule.create", rule: { ...rule, groupId: "nowhere" } });
  await command("owner", { kind: "rule.create", rule });
  const made = (await desk.sent("policy.done")).at(-1)?.payload.id;
  await command("owner", { kind: "rule.delete", id: made });
  await command("owner", { kind: "rule.delete", id: made });
  await command("owner", { kind: "bypass.revoke", id: "none" });

  assert.deepEqual((await desk.sent("policy.done")).map(({ payload }) => payload.code ?? "ok"), [
    "forbidden",
    "bad_request",
    "not_found",
    "ok",
    "ok",
    "not_found",
    "not_found",
  ]);
  assert.deepEqual(await verifyChain(desk.db), { ok: true, entries: 2 });
});

Deno.test("a new rule settles the items that it covers", async () => {
  await using desk = await furnished();
  const a = await desk.judge("a", "write_file", {
    paths: [{ path: "/out/a", access: "write", exists: false }],
  });
  const b = await desk.judge("b", "exec_command");
  const by = { userId: "u1", name: "Ada", surface: "web", role: "owner" };

  for (
    const rule of [
      { action: "allow", toolPattern: "write_file", pathPattern: "/out/*" },
      { action: "deny", toolPattern: "exec_command" },
    ]
  ) await desk.post("edge", "approval.policy", { by, command: { kind: "rule.create", rule } });

  assert.equal(await callState(desk, "a"), "decided");
  assert.equal(await callState(desk, "b"), "rejected");
  assert.deepEqual([await itemState(desk, a), await itemState(desk, b)], ["applied", "applied"]);
});

Deno.test("a rule for one use settles one waiting item", async () => {
  await using desk = await furnished();
  const items = [await desk.judge("a", "exec_command"), await desk.judge("b", "exec_command")];
  const by = { userId: "u1", name: "Ada", surface: "web", role: "owner" };
  const rule = { action: "allow", toolPattern: "exec_command", maxUses: 1 };

  await desk.post("edge", "approval.policy", { by, command: { kind: "rule.create", rule } });

  assert.deepEqual([await itemState(desk, items[0]), await itemState(desk, items[1])], [
    "applied",
    "waiting",
  ]);
});

Deno.test("rules are changed, ordered, deleted and restored as they were, each with its before and after in the log", async () => {
  await using desk = await furnished();
  const by = { userId: "u1", name: "Ada", surface: "web", role: "owner" };
  const command = async (body: Record<string, unknown>) => {
    await desk.post("edge", "approval.policy", { by, command: body });
    return (await desk.sent("policy.done")).at(-1)?.payload;
  };
  const last = async () =>
    JSON.parse(String((await desk.row("SELECT body FROM decisions ORDER BY seq DESC LIMIT 1"))?.body));
  const rule = { action: "allow", toolPattern: "exec_command", note: "mine" };
  const a = (await command({ kind: "rule.create", rule }))?.id;
  const b = (await command({ kind: "rule.create", rule: { ...rule, action: "deny" } }))?.id;
  assert.equal(await desk.judge("a", "exec_command"), undefined);

  await command({ kind: "rule.order", groupId: "default", ids: [b, a] });
  await desk.judge("b", "exec_command");
  assert.equal(await callState(desk, "b"), "rejected", "the other one is first now");
  await command({ kind: "rule.update", id: b, rule: { ...rule, action: "ask" } });
  const { before, after } = await last();
  assert.deepEqual([before.action, before.note, after.action], ["deny", "mine", "ask"]);
  await command({ kind: "rule.delete", id: b });
  const { by: _, ...gone } = await last();
  await desk.restart();
  await command({ kind: "rule.restore", ...gone });
  await desk.restart();

  assert.ok(await desk.judge("c", "exec_command"), "it asks again, before the rule that allows");
  assert.equal((await command({ kind: "rule.restore", ...gone }))?.code, "conflict");
  assert.equal((await command({ kind: "rule.order", groupId: "default", ids: [a, "x"] }))?.code, "not_found");
  const loose = { kind: "rule.update", id: "seed-protected-1", rule: { ...rule, action: "allow" } };
  assert.equal((await command(loose))?.code, "bad_request", "a protected rule stays a denial");
});

Deno.test("a group comes back with its rules", async () => {
  await using desk = await furnished();
  const by = { userId: "u1", name: "Ada", surface: "web", role: "owner" };
  const command = async (body: Record<string, unknown>) => {
    await desk.post("edge", "approval.policy", { by, command: body });
    return (await desk.sent("policy.done")).at(-1)?.payload;
  };
  const id = (await command({ kind: "group.create", name: "Builders" }))?.id;
  await command({ kind: "rule.create", rule: { groupId: id, action: "allow", toolPattern: "exec_command" } });
  await command({ kind: "group.update", id, name: "Makers" });
  await command({ kind: "group.delete", id });
  const row = await desk.row("SELECT body FROM decisions WHERE decision = 'group.delete'");

  await command({ kind: "group.restore", ...JSON.parse(String(row?.body)) });
  await command({ kind: "profile.group", profile: "default", groupId: id });
  await desk.restart();

  assert.equal(await desk.judge("a", "exec_command"), undefined);
  assert.equal((await desk.row("SELECT name FROM rule_groups WHERE id = ?", String(id)))?.name, "Makers");
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

Deno.test("rules that cannot be read make everything ask, after a restart too", async () => {
  await using desk = await furnished();
  await desk.db.batch([sql("UPDATE rules SET argv_prefix = '{broken' WHERE id = 'seed-rest'")]);
  await desk.restart();

  assert.ok(
    await desk.judge("a", "read_file", { paths: [{ path: "/notes.md", access: "read", exists: true }] }),
  );
  await desk.post("conversation/c1", "tools.list", { turnId: "t1" });

  assert.deepEqual((await desk.sent("tools.listed"))[0]?.payload.tools, []);
  const by = { userId: "u1", name: "Ada", surface: "web", role: "owner" };
  const remove = (id: string) =>
    desk.post("edge", "approval.policy", { by, command: { kind: "rule.delete", id } });
  await remove("seed-mcp");
  await remove("seed-rest");
  assert.deepEqual((await desk.sent("policy.done")).map(({ payload }) => payload.code), [
    "corrupt",
    undefined,
  ]);
  assert.equal(
    await desk.judge("b", "read_file", { paths: [{ path: "/b", access: "read", exists: true }] }),
    undefined,
  );
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

Deno.test("a profile's own group comes before the default one; a group in use or the default one is not deleted", async () => {
  await using desk = await furnished();
  const command = async (body: Record<string, unknown>) => {
    const by = { userId: "u1", name: "Ada", surface: "web", role: "owner" };
    await desk.post("edge", "approval.policy", { by, command: body });
    return (await desk.sent("policy.done")).at(-1)?.payload;
  };
  const rule = { action: "allow", toolPattern: "exec_command" };

  const made = await command({ kind: "group.create", name: "Builders" });
  await command({ kind: "rule.create", rule: { ...rule, groupId: made?.id } });
  const copy = await command({ kind: "group.create", name: "Copy", copyOf: made?.id });
  assert.ok(await desk.judge("a", "exec_command"), "no profile uses it yet");
  await command({ kind: "profile.group", profile: "default", groupId: copy?.id });

  assert.equal(await callState(desk, "a"), "decided", "what waits is settled by the rule");
  await desk.restart();
  assert.equal(await desk.judge("b", "exec_command"), undefined);
  assert.deepEqual([
    (await command({ kind: "group.delete", id: copy?.id }))?.code,
    (await command({ kind: "group.delete", id: "default" }))?.code,
    (await command({ kind: "group.create", name: "X", copyOf: "nowhere" }))?.code,
    (await command({ kind: "profile.group", profile: "nobody", groupId: copy?.id }))?.code,
    (await command({ kind: "group.delete", id: made?.id }))?.ok,
  ], ["bad_request", "bad_request", "not_found", "not_found", true]);
  assert.equal(
    (await desk.row("SELECT count(*) AS n FROM rules WHERE group_id = ?", String(made?.id)))?.n,
    0,
  );
  assert.equal((await verifyChain(desk.db)).ok, true);
});
