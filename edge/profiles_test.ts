/** Proves the profiles' routes with the real approval actor behind them: what a person sets is what a call is judged by, is shown, and is taken back. */
import assert from "node:assert/strict";
import { ApprovalDesk } from "../tests/doubles/approval_desk.ts";
import { done, withApproval } from "../tests/doubles/edge_and_approval.ts";
import type { Bench, Client } from "../tests/doubles/edge_bench.ts";

const writer = {
  name: "Writer",
  model: "vendor/model",
  instructions: "Write well.",
  writePaths: ["/out"],
  excludedTools: ["exec_command"],
};

/** What becomes of a call that writes to a path in conversation c1. */
async function judged(bench: Bench, callId: string, path: string): Promise<unknown> {
  const desk = await ApprovalDesk.over(bench.db, () => crypto.randomUUID());
  desk.now = bench.clock.now();
  await desk.judge(callId, "write_file", { paths: [{ path, access: "write", exists: false }] });
  const [call] = await bench.rows<{ state: string }>(`SELECT state FROM tool_calls WHERE id = '${callId}'`);
  return call?.state;
}

/** What the dry run says to a call of c1. */
async function explained(owner: Client, call: Record<string, unknown>): Promise<unknown> {
  const answer = await owner.post("/api/rules/explain", { conversation: "c1", ...call });
  const { outcome, by, ref } = await answer.json();
  return { outcome, by, ref };
}

const toOut = { tool: "write_file", paths: [{ path: "/out/a", access: "write" }] };

Deno.test("what a person writes into a profile is what the conversation's calls are judged by", () =>
  withApproval(async (bench, owner) => {
    await bench.conversation("c1");
    const id = await done(bench, owner.post("/api/profiles", writer));
    assert.equal(await judged(bench, "a", "/out/a"), "waiting");

    await done(bench, owner.send("PUT", "/api/conversations/c1/profile", { profile: id }));

    assert.equal(await judged(bench, "b", "/out/a"), "judged");
    assert.equal(await judged(bench, "c", "/elsewhere"), "waiting");
    assert.equal(await judged(bench, "d", "/secrets/key"), "rejected");
    assert.deepEqual(await explained(owner, toOut), { outcome: "allow", by: "profile", ref: id });
    const exec = { tool: "exec_command", command: "ls" };
    assert.deepEqual(await explained(owner, exec), { outcome: "deny", by: "profile", ref: id });
    await done(bench, owner.send("PATCH", `/api/profiles/${id}`, { writePaths: [], excludedTools: [] }));
    assert.equal(await judged(bench, "e", "/out/a"), "waiting");
    assert.equal((await (await owner.get("/api/conversations/c1")).json()).profile, id);
    const { profiles } = await (await owner.get("/api/profiles")).json();
    assert.deepEqual(profiles.find((profile: { id: string }) => profile.id === id), {
      ...writer,
      id,
      groupId: "default",
      writePaths: [],
      excludedTools: [],
      brain: "builtin",
      isUsed: true,
      updatedAt: bench.clock.now(),
    });
  }));

Deno.test("every change of a profile and every choice of one can be taken back, newest first", () =>
  withApproval(async (bench, owner) => {
    await bench.conversation("c1");
    const snapshot = () =>
      bench.rows(
        `SELECT p.id, p.name, model, group_id, config, (SELECT profile FROM conversations WHERE id = 'c1') AS chosen FROM profiles p ORDER BY 1`,
      );
    const states = [await snapshot()];
    const step = async (answer: Promise<Response>) => {
      const id = await done(bench, answer);
      states.push(await snapshot());
      return id;
    };
    const id = await step(owner.post("/api/profiles", writer));
    await step(owner.send("PATCH", `/api/profiles/${id}`, { name: "Author", model: null }));
    await step(owner.send("PUT", "/api/conversations/c1/profile", { profile: id }));
    await step(owner.send("PUT", "/api/conversations/c1/profile", { profile: "default" }));
    await step(owner.send("DELETE", `/api/profiles/${id}`));

    const { entries } = await (await owner.get("/api/audit")).json();
    for (const entry of [...entries].reverse()) {
      assert.deepEqual(await snapshot(), states.pop());
      await done(bench, owner.post(`/api/audit/${entry.seq}/revert`));
    }

    assert.deepEqual(await snapshot(), states[0]);
  }));

Deno.test("a profile that cannot mean what it says is refused, and a rule for one that is not there is found", () =>
  withApproval(async (bench, owner) => {
    for (
      const change of [{ name: " " }, { writePaths: "/" }, { writepaths: ["/"] }, {
        instructions: "x".repeat(8_001),
      }]
    ) {
      assert.equal((await owner.post("/api/profiles", { ...writer, ...change })).status, 400);
    }
    await done(
      bench,
      owner.post("/api/rules", { action: "allow", toolPattern: "write_file", agent: "gone" }),
    );
    const { findings } = await (await owner.get("/api/rules/lint")).json();
    const found = findings.map(({ kind, message }: { kind: string; message: string }) =>
      `${kind}: ${message}`
    );
    assert.ok(found.includes(`unknown_agent: There is no profile "gone"`), found.join("\n"));
    assert.equal(
      (await owner.send("PUT", "/api/conversations/none/profile", { profile: "default" })).status,
      404,
    );
  }));
