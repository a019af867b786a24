/** Proves the two brakes on an agent that runs away, over a restart of approval too; against a real database. */
import assert from "node:assert/strict";
import { sql } from "../../../store/db.ts";
import { type ApprovalDesk, decided, furnished, gate } from "../../../tests/doubles/approval_desk.ts";

const notes = { paths: [{ path: "/notes.md", access: "read" as const, exists: true }] };
const secret = { paths: [{ path: "/secrets/k", access: "read" as const, exists: true }] };
const stops = async (desk: ApprovalDesk) =>
  (await desk.sent("tool.result")).map(({ payload }) => payload.stopTurn);

Deno.test("more calls of one tool than anybody expects in a minute are asked for, over a restart too", async () => {
  await using desk = await furnished();
  await gate(desk, { callsPerMinute: 3 });
  desk.now = Date.now();
  for (const call of ["a", "b", "c"]) assert.equal(await desk.judge(call, "read_file", notes), undefined);
  await desk.restart();

  const fourth = await desk.judge("d", "read_file", notes);
  desk.now += 60_000;

  assert.ok(fourth);
  const trace = JSON.parse(String((await desk.row("SELECT trace FROM pending_items"))?.trace));
  assert.match(JSON.stringify(trace.steps), /more than 3 calls/);
  assert.equal(await desk.judge("e", "read_file", notes), undefined);
});

Deno.test("calls are counted by agent, in whatever conversation it makes them", async () => {
  await using desk = await furnished();
  await gate(desk, { callsPerMinute: 1 });
  const elsewhere = (callId: string, profile: string) => {
    const context = { profile, source: "web" };
    const conversation = `in-${callId}`;
    const payload = { ...desk.judgePayload(callId, "read_file", notes), conversation, context };
    return desk.post("toolbox", "tool.judge", payload);
  };
  await desk.db.batch(["b", "c"].map((id) =>
    sql(
      `INSERT INTO tool_calls (id, conversation, turn_id, model_call_id, tool, arguments, state, digest, created_at, updated_at)
       VALUES (?, ?, 't2', ?, 'read_file', '{}', 'described', ?, 1, 1)`,
      id,
      `in-${id}`,
      id,
      `digest-${id}`,
    )
  ));

  await desk.judge("a", "read_file", notes);
  await elsewhere("b", "other");
  await elsewhere("c", "default");

  assert.deepEqual([...desk.state.items.values()].map((item) => item.callId), ["c"]);
});

Deno.test("many refusals stop the turn and say so, whatever rules let run in between; a person's allowance begins anew", async () => {
  await using desk = await furnished();
  await gate(desk, { denialsInARow: 3 });
  const refuse = (call: string) => desk.judge(call, "read_file", secret);

  await refuse("a");
  await decided(desk, await desk.judge("b", "exec_command"), { decision: "reject_once" });
  await desk.judge("c", "read_file", notes);
  await desk.restart();
  await refuse("d");
  for (const call of ["e", "f"]) await refuse(call);
  await decided(desk, await desk.judge("g", "exec_command"), { decision: "allow_once" });
  await desk.restart();
  for (const call of ["h", "i", "j"]) await refuse(call);

  assert.deepEqual(await stops(desk), [false, false, true, false, false, false, false, true]);
  const notesSaid = (await desk.sent("topic.note")).map(({ payload }) => String(payload.text)).join();
  assert.match(notesSaid, /3 calls were refused within a few minutes/);
});

Deno.test("refusals count for ten minutes", async () => {
  await using desk = await furnished();
  await gate(desk, { denialsInARow: 2 });

  await desk.judge("a", "read_file", secret);
  desk.now += 600_000;
  await desk.judge("b", "read_file", secret);
  desk.now += 599_999;
  await desk.judge("c", "read_file", secret);

  assert.deepEqual(await stops(desk), [false, false, true]);
});

Deno.test("a question that nobody wants to answer is no refusal of a call, after a restart neither", async () => {
  await using desk = await furnished();
  desk.now = Date.now();
  await desk.db.batch([sql(
    `INSERT INTO tool_calls (id, conversation, turn_id, model_call_id, tool, arguments, state, digest, created_at, updated_at)
     VALUES ('q', 'c1', 't1', 'q', 'ask_user', '{}', 'executing', 'd', 1, 1)`,
  )]);
  const question = { callId: "q", turnId: "t1", conversation: "c1", kind: "question", question: "?" };
  await desk.post("toolbox", "question.raise", question);
  await decided(desk, [...desk.state.items.keys()][0], { decision: "reject_once" });
  await desk.judge("a", "read_file", secret);
  const before = desk.state.denials;

  await desk.restart();

  assert.deepEqual(desk.state.denials, before);
  assert.equal(desk.state.denials.get("c1")?.length, 1);
});
