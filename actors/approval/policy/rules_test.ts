/** Proves how rules, groups and the choice of a profile are changed, and what that settles; against a real database. */
import assert from "node:assert/strict";
import { sql } from "../../../store/db.ts";
import { verifyChain } from "../../../store/queries/chain.ts";
import { ApprovalDesk, callState, furnished, itemState } from "../../../tests/doubles/approval_desk.ts";

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

Deno.test("before the toolbox has spoken for the first time nobody is told that there are no tools", async () => {
  await using desk = await ApprovalDesk.open();

  await desk.post("conversation/c1", "tools.list", { turnId: "t1" });
  const early = await desk.sent("tools.listed");
  await desk.furnish();
  desk.now += 1_000;
  await desk.work();
  const [listed] = await desk.sent("tools.listed");

  assert.deepEqual(early, []);
  assert.equal(listed?.to, "conversation/c1");
  assert.notDeepEqual(listed?.payload.tools, []);
});
