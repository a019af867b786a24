/** Proves how profiles are made, changed, deleted and chosen, and that calls are judged by what they say at that moment; against a real database. */
import assert from "node:assert/strict";
import { sql } from "../../../store/db.ts";
import { opStatements } from "../../../store/ops.ts";
import { verifyChain } from "../../../store/queries/chain.ts";
import { type ApprovalDesk, callState, furnished } from "../../../tests/doubles/approval_desk.ts";

const body = {
  name: "Writer",
  groupId: "default",
  model: "vendor/model",
  instructions: "Write well.",
  writePaths: ["/out"],
  excludedTools: ["exec_command"],
};
const standing = { profile: "default", source: "channel", channelId: 5 };

const writing: { paths: { path: string; access: "write"; exists: boolean }[] } = {
  paths: [{ path: "/out/a", access: "write", exists: false }],
};

function commander(desk: ApprovalDesk) {
  return async (command: Record<string, unknown>, userId = "u1") => {
    const by = { userId, name: "Ada", surface: "web", role: "owner" };
    await desk.post("edge", "approval.policy", { by, command });
    return (await desk.sent("policy.done")).at(-1)?.payload ?? {};
  };
}

Deno.test("a conversation is judged by the profile that was chosen for it, also after a restart", async () => {
  await using desk = await furnished();
  const command = commander(desk);
  const made = await command({ kind: "profile.create", profile: body });
  assert.ok(await desk.judge("a", "write_file", writing), "nobody chose the profile yet");

  await command({ kind: "conversation.profile", conversation: "c1", profile: made.id, standing });

  for (const suffix of ["live", "restored"]) {
    assert.equal(await desk.judge(`w-${suffix}`, "write_file", writing), undefined);
    await desk.judge(`x-${suffix}`, "exec_command");
    assert.equal(await callState(desk, `w-${suffix}`), "judged");
    assert.equal(await callState(desk, `x-${suffix}`), "rejected");
    await desk.restart();
  }
  assert.equal(await callState(desk, "a"), "waiting", "it was proposed under another profile");
  const [refused] = (await desk.sent("tool.result")).map(({ payload }) => payload.text);
  assert.match(String(refused), /profile leaves the tool out/);
  await desk.post("conversation/c1", "tools.list", { turnId: "t2" });
  const { tools, ...given } = (await desk.sent("tools.listed")).at(-1)?.payload ?? {};
  assert.deepEqual(given, { turnId: "t2", model: "vendor/model", instructions: "Write well." });
  assert.equal(JSON.stringify(tools).includes("exec_command"), false);
  assert.equal(JSON.stringify(tools).includes("write_file"), true);
});

Deno.test("a call that was described before another profile was chosen is judged by that one, and brings back no old one", async () => {
  await using desk = await furnished();
  const command = commander(desk);
  const made = await command({ kind: "profile.create", profile: body });
  await command({ kind: "conversation.profile", conversation: "c1", profile: made.id, standing });
  await desk.db.batch([sql(
    `INSERT INTO tool_calls (id, conversation, turn_id, model_call_id, tool, arguments, state, digest, created_at, updated_at)
     VALUES ('late', 'c1', 't1', 'late', 'exec_command', '{}', 'described', 'digest-late', 1, 1)`,
  )]);

  const context = { profile: "default", source: "channel", channelId: 5 };
  await desk.post("toolbox", "tool.judge", { ...desk.judgePayload("late", "exec_command"), context });

  assert.equal(await callState(desk, "late"), "rejected");
  const gone = await command({ kind: "profile.delete", id: made.id });
  assert.equal(gone.ok, false, "the conversation still uses it");
});

Deno.test("a change of a profile settles what waits and is now covered, and keeps what it does not name", async () => {
  await using desk = await furnished();
  const command = commander(desk);
  await desk.judge("a", "write_file", writing);
  await desk.judge("b", "exec_command");

  await command({ kind: "profile.update", id: "default", changes: { writePaths: ["/out"] } });
  await command({ kind: "profile.update", id: "default", changes: { excludedTools: ["exec_command"] } });

  assert.equal(await callState(desk, "a"), "decided");
  assert.equal(await callState(desk, "b"), "rejected");
  const run = (await desk.sent("tool.run")).at(-1)?.payload;
  assert.deepEqual(run?.grant, { by: "profile", ref: "default", digest: "digest-a" });
  const row = await desk.row("SELECT name, brain, group_id, config FROM profiles");
  assert.deepEqual({ ...row, config: JSON.parse(String(row?.config)) }, {
    name: "Default",
    brain: "builtin",
    group_id: "default",
    config: { instructions: "", writePaths: ["/out"], excludedTools: ["exec_command"] },
  });
  const logged = await desk.row("SELECT body FROM decisions WHERE decision = 'profile.update' ORDER BY seq");
  const { before, after } = JSON.parse(String(logged?.body));
  assert.deepEqual([before.writePaths, after.writePaths], [[], ["/out"]]);
  assert.equal((await verifyChain(desk.db)).ok, true);
});

Deno.test("a profile in use and the default one stay, and only the owner changes any", async () => {
  await using desk = await furnished();
  const command = commander(desk);
  const { id } = await command({ kind: "profile.create", profile: body });
  const group = await command({ kind: "group.create", name: "Builders" });
  const code = async (one: Record<string, unknown>, userId?: string) => {
    const { ok, code } = await command(one, userId);
    return ok ? "ok" : code;
  };
  const choice = { kind: "conversation.profile", conversation: "c1", standing };

  assert.equal(await code({ kind: "profile.create", profile: body }, "u2"), "forbidden");
  assert.equal(await code({ ...choice, profile: id }, "u2"), "forbidden");
  assert.equal(await code({ kind: "profile.create", profile: { ...body, groupId: "none" } }), "not_found");
  assert.equal(
    await code({ kind: "profile.create", profile: { ...body, writePaths: ["/*"] } }),
    "bad_request",
  );
  assert.equal(await code({ kind: "profile.update", id, changes: { groupId: group.id } }), "ok");
  assert.equal(await code({ kind: "group.delete", id: group.id }), "bad_request", "the profile uses it");
  assert.equal(await code({ kind: "profile.update", id: "none", changes: {} }), "not_found");
  assert.equal(await code({ ...choice, profile: "none" }), "not_found");
  assert.equal(await code({ ...choice, profile: id }), "ok");
  assert.equal(await code({ kind: "profile.delete", id }), "bad_request");
  await desk.restart();
  assert.equal(await code({ kind: "profile.delete", id }), "bad_request");
  assert.equal(await code({ kind: "profile.delete", id: "default" }), "bad_request");
  assert.equal(await code({ ...choice, profile: "default" }), "ok");
  assert.equal(await code({ kind: "profile.restore", id, profile: body }), "conflict");
  assert.equal(await code({ kind: "profile.delete", id }), "ok");
  assert.equal(await code({ kind: "profile.restore", id, profile: body }), "ok");
});

Deno.test("a conversation that approval has not met yet gets the profile that its row names, else the default one", async () => {
  await using desk = await furnished();
  const command = commander(desk);
  const { id } = await command({ kind: "profile.create", profile: body });
  await command({ kind: "profile.update", id: "default", changes: { instructions: "Be kind." } });

  await desk.post("conversation/new", "tools.list", { turnId: "t1" });
  await desk.post("conversation/old", "tools.list", { turnId: "t2", profile: id });

  const listed = (await desk.sent("tools.listed")).map(({ payload }) => payload.instructions);
  assert.deepEqual(listed, ["Be kind.", "Write well."]);
});

Deno.test("a conversation does not choose its own profile", async () => {
  await using desk = await furnished();
  const op = { op: "conversation.put", title: "T", source: "web", profile: "wide" } as const;

  const made = opStatements(op, { ref: "conversation/c9", kind: "conversation", id: "c9", now: 1 });
  if (made.ok) await desk.db.batch(made.value);

  assert.equal((await desk.row("SELECT profile FROM conversations WHERE id = 'c9'"))?.profile, "default");
});
