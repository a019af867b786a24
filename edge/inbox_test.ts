/** Proves what a decision over HTTP means: strict words, one winner, the winner shown to who came late. And the audit log. */
import assert from "node:assert/strict";
import { opStatements } from "../store/ops.ts";
import { genesis, seal } from "../lib/decision_chain.ts";
import { type Bench, withBench } from "../tests/doubles/edge_bench.ts";

async function furnish(bench: Bench): Promise<void> {
  await bench.conversation("c1");
  await bench.item("i1", "c1");
}

const allow = { version: 1, decision: "allow_once" };

Deno.test("of two people who decide at once one wins, and the other is shown who", () =>
  withBench(async (bench) => {
    await furnish(bench);
    const [owner, approver] = [await bench.owner(), await bench.person("approver")];

    const answers = await Promise.all([
      owner.post("/api/inbox/i1/decision", allow),
      approver.post("/api/inbox/i1/decision", { version: 1, decision: "reject_once", note: "no" }),
    ]);

    const bodies = await Promise.all(answers.map((answer) => answer.json()));
    assert.deepEqual(answers.map((answer) => answer.status).sort(), [200, 409]);
    const won = bodies.find((body) => body.error === undefined);
    const late = bodies.find((body) => body.error !== undefined);
    assert.equal(late.error.code, "conflict");
    assert.deepEqual(late.item.decision, won.decision);
    assert.equal((await bench.rows("SELECT 1 FROM messages WHERE type = 'approval.decide'")).length, 1);
    assert.deepEqual(bench.rung, ["approval"]);
  }));

Deno.test("a double click is one decision and gets the same answer twice", () =>
  withBench(async (bench) => {
    await furnish(bench);
    const owner = await bench.owner();

    const answers = await Promise.all([1, 2, 3].map(() => owner.post("/api/inbox/i1/decision", allow)));

    assert.deepEqual(answers.map((answer) => answer.status), [200, 200, 200]);
    assert.equal((await bench.rows("SELECT 1 FROM messages")).length, 1);
    const later = await owner.post("/api/inbox/i1/decision", { version: 1, decision: "cancel" });
    assert.equal(later.status, 409);
  }));

Deno.test("a decision carries who made it, by which device, to approval", () =>
  withBench(async (bench) => {
    await furnish(bench);
    const approver = await bench.person("approver");
    const { device } = await (await approver.get("/api/me")).json();

    const answer = await approver.post("/api/inbox/i1/decision", { ...allow, note: "fine" });

    const item = await answer.json();
    assert.equal(item.state, "decided");
    assert.equal(item.version, 2);
    const [message] = await bench.rows<{ payload: string; lane: number; from_ref: string }>(
      "SELECT * FROM messages",
    );
    assert.equal(message?.lane, 0);
    assert.equal(message?.from_ref, "edge");
    assert.deepEqual(JSON.parse(message?.payload ?? ""), {
      itemId: "i1",
      version: 1,
      body: { decision: "allow_once", note: "fine" },
      by: {
        userId: "approver-approve",
        role: "approver",
        name: "approver-approve",
        surface: "web",
        device: device.id,
      },
    });
  }));

Deno.test("whatever is not exactly a decision is a 400 and decides nothing", () =>
  withBench(async (bench) => {
    await furnish(bench);
    const owner = await bench.owner();
    const wrong = [
      {},
      { version: 1 },
      { version: 1, decision: "allow" },
      { version: 1, decision: "Allow_once" },
      { version: 1, decision: "allow_once " },
      { version: 1, decision: ["allow_once"] },
      { version: "1", decision: "allow_once" },
      { decision: "allow_once" },
      { ...allow, approve: true },
      { version: 1, decision: "answer", answer: "yes" },
      { version: 1, decision: "allow_always" },
      { version: 1, decision: "edit_and_allow" },
      { version: 1, decision: "allow_session", scope: "everything" },
      { version: 1, decision: "allow_session", seconds: 8 * 3600 + 1 },
      { version: 1, decision: "allow_always", rule: { action: "deny", toolPattern: "*" } },
      {
        version: 1,
        decision: "allow_always",
        rule: { action: "allow", toolPattern: "*", layer: "protected" },
      },
    ];

    for (const body of wrong) {
      const answer = await owner.post("/api/inbox/i1/decision", body);
      assert.equal(answer.status, 400, JSON.stringify(body));
      assert.equal((await answer.json()).error.code, "bad_request");
    }
    const form = await owner.send("POST", "/api/inbox/i1/decision", allow, { "content-type": "text/plain" });
    assert.equal(form.status, 415);
    assert.equal((await owner.get("/api/inbox?state=Waiting")).status, 400);
    assert.equal((await owner.get("/api/inbox?limit=1000")).status, 400);
    const item = await (await owner.get("/api/inbox/i1")).json();
    assert.equal(item.state, "waiting");
    assert.deepEqual(item.arguments, { command: "ls" });
    assert.equal((await bench.rows("SELECT 1 FROM messages")).length, 0);
  }));

Deno.test("a decision on a version that was not shown is a conflict", () =>
  withBench(async (bench) => {
    await furnish(bench);
    await bench.run("UPDATE pending_items SET version = 2");
    const owner = await bench.owner();

    const answer = await owner.post("/api/inbox/i1/decision", allow);

    assert.equal(answer.status, 409);
    assert.equal((await answer.json()).item.version, 2);
  }));

Deno.test("later and seen mark an item without touching its version or state", () =>
  withBench(async (bench) => {
    await furnish(bench);
    const owner = await bench.owner();
    const until = bench.clock.now() + 3_600_000;

    await owner.post("/api/inbox/i1/seen");
    const marked = await (await owner.post("/api/inbox/i1/later", { until })).json();

    assert.equal(marked.laterUntil, until);
    assert.equal(marked.seenAt, bench.clock.now());
    assert.equal(marked.version, 1);
    assert.equal(marked.state, "waiting");
    assert.equal((await owner.post("/api/inbox/i1/later", { until: bench.clock.now() })).status, 400);
    assert.equal((await owner.post("/api/inbox/i1/later", { until: until * 2 })).status, 400);
    const back = await (await owner.post("/api/inbox/i1/later", { until: null })).json();
    assert.deepEqual([back.id, back.laterUntil], ["i1", undefined]);
    await owner.post("/api/inbox/i1/decision", allow);
    assert.equal((await owner.post("/api/inbox/i1/later", { until })).status, 409);
  }));

Deno.test("an allowed call of which nobody knows how it ended says so on its item, and the stream is told", () =>
  withBench(async (bench) => {
    await furnish(bench);
    await bench.run("UPDATE pending_items SET call_id = 'k1', state = 'applied' WHERE id = 'i1'");
    await bench.run(
      `INSERT INTO tool_calls (id, conversation, turn_id, model_call_id, tool, arguments, state, created_at, updated_at)
       VALUES ('k1', 'c1', 't', 'm', 'exec_command', '{}', 'executing', 1, 1)`,
    );
    const owner = await bench.owner();
    const before = await (await owner.get("/api/inbox/i1")).json();

    const toolbox = { ref: "toolbox", kind: "toolbox", id: "toolbox", now: 5 } as const;
    const moved = opStatements({ op: "call.move", callId: "k1", to: "failed", outcome: "unknown" }, toolbox);
    assert.ok(moved.ok);
    await bench.db.batch(moved.value);

    const after = await (await owner.get("/api/inbox/i1")).json();
    assert.deepEqual([before.unknownOutcome, after.unknownOutcome], [undefined, true]);
    assert.deepEqual(await bench.rows("SELECT kind, ref FROM feed"), [{ kind: "item", ref: "i1" }]);
  }));

Deno.test("the inbox pages through everything once", () =>
  withBench(async (bench) => {
    await bench.conversation("c1");
    for (let index = 0; index < 7; index++) await bench.item(`i${index}`, "c1");
    const owner = await bench.owner();

    const seen: string[] = [];
    let after = "";
    for (;;) {
      const page = await (await owner.get(`/api/inbox?state=waiting&limit=3${after}`)).json();
      assert.equal(page.total, 7);
      seen.push(...page.items.map((item: { id: string }) => item.id));
      if (page.next === undefined) break;
      after = `&after=${page.next}`;
    }

    assert.deepEqual(seen, ["i0", "i1", "i2", "i3", "i4", "i5", "i6"]);
  }));

Deno.test("an entry of the log comes with what its ids stand for", () =>
  withBench(async (bench) => {
    await bench.conversation("c1");
    await bench.run(
      `INSERT INTO tool_calls (id, conversation, turn_id, model_call_id, tool, arguments, state, described, created_at, updated_at)
       VALUES ('call1', 'c1', 't1', 'm1', 'exec_command', '{}', 'finished', '{"summary":"Run: make"}', 1, 1)`,
    );
    const owner = await bench.owner();
    await bench.run("UPDATE users SET zulip_user_id = 10 WHERE id = 'owner'");
    await bench.run(
      `INSERT INTO decisions VALUES (1, 1, 'decision', 'i1', 'call1', 'c1', 'zulip:10', 'zulip', NULL, 'allow_once', NULL, '{}', '', 'h')`,
    );

    const { entries } = await (await owner.get("/api/audit")).json();

    assert.deepEqual(entries[0].shown, {
      who: "Owner",
      tool: "exec_command",
      summary: "Run: make",
      title: "Title of c1",
    });
  }));

Deno.test("the audit log pages, verifies, and says where it was changed", () =>
  withBench(async (bench) => {
    let head = genesis;
    for (let index = 0; index < 5; index++) {
      const facts = {
        at: index,
        kind: "decision",
        itemId: `i${index}`,
        callId: null,
        conversation: "c1",
        actor: "owner",
      };
      const rest = { surface: "web", device: null, decision: "allow_once", digest: null, body: '{"n":1}' };
      const entry = seal(head, { ...facts, ...rest });
      head = entry;
      const { seq, at, kind, itemId, callId, conversation, actor, surface, device, decision, digest, body } =
        entry;
      const values = [
        seq,
        at,
        kind,
        itemId,
        callId,
        conversation,
        actor,
        surface,
        device,
        decision,
        digest,
        body,
      ];
      await bench.run(
        "INSERT INTO decisions VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        ...values.map((value) => typeof value === "number" ? BigInt(value) : value),
        entry.prevHash,
        entry.hash,
      );
    }
    const owner = await bench.owner();

    const first = await (await owner.get("/api/audit?limit=3")).json();
    const rest = await (await owner.get(`/api/audit?limit=3&after=${first.next}`)).json();

    assert.deepEqual(first.entries.map((entry: { seq: number }) => entry.seq), [1, 2, 3]);
    assert.deepEqual(rest.entries.map((entry: { seq: number }) => entry.seq), [4, 5]);
    assert.equal(rest.next, undefined);
    assert.deepEqual(rest.entries[0].body, { n: 1 });
    const newest = await (await owner.get("/api/audit?order=desc&limit=3")).json();
    assert.deepEqual(newest.entries.map((entry: { seq: number }) => entry.seq), [5, 4, 3]);
    const oldest = await (await owner.get(`/api/audit?order=desc&limit=3&before=${newest.next}`)).json();
    assert.deepEqual(oldest.entries.map((entry: { seq: number }) => entry.seq), [2, 1]);
    assert.equal(oldest.next, undefined);
    const added = await (await owner.get("/api/audit?order=desc&after=3&before=5")).json();
    assert.deepEqual(added.entries.map((entry: { seq: number }) => entry.seq), [4]);
    assert.equal(newest.entries[0].shown.who, "Owner");
    assert.equal((await owner.get("/api/audit?before=3")).status, 400);
    assert.deepEqual(await (await owner.get("/api/audit/verify")).json(), { ok: true, entries: 5 });
    await bench.run("UPDATE decisions SET actor = 'somebody' WHERE seq = 4");
    const broken = await (await owner.get("/api/audit/verify")).json();
    assert.deepEqual(broken, { ok: false, entries: 3, brokenAt: 4 });
  }));

Deno.test("the inbox says what keeps the whole from working, and nothing when it works", async () => {
  let reasons: readonly string[] = [];
  await withBench(async (bench) => {
    const owner = await bench.owner();

    const well = await (await owner.get("/api/inbox")).json();
    reasons = ["the disk is full"];
    const ill = await (await owner.get("/api/inbox")).json();

    assert.deepEqual([well.notices, ill.notices], [undefined, ["the disk is full"]]);
  }, { deps: { unready: () => reasons } });
});
