/** Proves `decide.ts`, `queries/items.ts` and `seeds.ts` on a real file, with two connections where two writers race. */
import assert from "node:assert/strict";
import { newSealKey, seal } from "../lib/sealed.ts";
import { type Db, objects, sql } from "./db.ts";
import { decide, type DecideRequest } from "./decide.ts";
import { bootstrap } from "./migrate.ts";
import { openDb } from "./open.ts";
import { opStatements } from "./ops.ts";
import type { Viewer } from "./queries/access.ts";
import { getItem, listItems } from "./queries/items.ts";
import { endBypasses, seed } from "./seeds.ts";

const owner: Viewer = { userId: "u1", role: "owner", channels: new Map() };
const approver: Viewer = { userId: "u2", role: "approver", channels: new Map([[5, "approve"]]) };
const looker: Viewer = { userId: "u3", role: "approver", channels: new Map([[5, "view"]]) };

/** Two connections to one database with a conversation in channel 5 and a web one. */
class Bench implements AsyncDisposable {
  #ids = 0;
  private constructor(readonly folder: string, readonly db: Db, readonly other: Db) {}

  static async open(): Promise<Bench> {
    const folder = await Deno.makeTempDir({ prefix: "callboard-decide-" });
    const url = `file:${folder}/test.db`;
    const db = await openDb({ url });
    await bootstrap(db);
    for (const [id, source, channel] of [["c1", "channel", 5], ["w1", "web", null]] as const) {
      await db.batch([sql(
        `INSERT INTO conversations (id, title, source, channel_id, profile, status, created_at, updated_at)
         VALUES (?, ?, ?, ?, 'default', 'idle', 1, 1)`,
        id,
        `Title ${id}`,
        source,
        channel,
      )]);
    }
    return new Bench(folder, db, await openDb({ url }));
  }

  readonly newId = () => `id-${++this.#ids}`;

  async item(id: string, more: Record<string, unknown> = {}): Promise<void> {
    const op = {
      op: "item.create",
      id,
      kind: "approval",
      conversation: "c1",
      turnId: "t",
      callId: id,
      expiresAt: 9_000,
      ...more,
    };
    const statements = opStatements(op, { ref: "approval", kind: "approval", id: "approval", now: 5 });
    assert.ok(statements.ok);
    await this.db.batch(statements.value);
  }

  async gate(settings: Record<string, unknown>): Promise<void> {
    await this.db.batch([
      sql("INSERT INTO settings (key, value, at) VALUES ('gate', ?, 1)", JSON.stringify(settings)),
    ]);
  }

  request(itemId: string, body: DecideRequest["body"], viewer = owner, version = 1): DecideRequest {
    const by = { viewer, name: viewer.userId, surface: "web" as const };
    return { itemId, version, body, by, now: 10, newId: this.newId };
  }

  async count(table: string, where = "1"): Promise<unknown> {
    return objects<{ n: number }>(
      await this.db.query(sql(`SELECT count(*) AS n FROM ${table} WHERE ${where}`)),
    )[0]?.n;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.other.close();
    await this.db.close();
    await Deno.remove(this.folder, { recursive: true });
  }
}

const code = (result: Awaited<ReturnType<typeof decide>>) => result.ok ? "ok" : result.error.code;

Deno.test("decide() commits the facts, approval's message and the announcement in one batch", async () => {
  await using bench = await Bench.open();
  await bench.item("i1");

  const result = await decide(bench.db, bench.request("i1", { decision: "reject_once", note: "no" }));

  assert.ok(result.ok);
  const { state, version, decision } = result.value;
  assert.deepEqual({ state, version, decision }, {
    state: "decided",
    version: 2,
    decision: { decision: "reject_once", by: "u1", surface: "web", at: 10 },
  });
  assert.equal(result.value.note, "no");
  const rows = await bench.db.query(sql("SELECT to_ref, from_ref, lane, payload FROM messages"));
  const [message] = objects<{ to_ref: string; from_ref: string; lane: number; payload: string }>(rows);
  assert.deepEqual([message?.to_ref, message?.from_ref, message?.lane], ["approval", "edge", 0]);
  assert.deepEqual(JSON.parse(message?.payload ?? ""), {
    itemId: "i1",
    version: 1,
    body: { decision: "reject_once", note: "no" },
    by: { userId: "u1", role: "owner", name: "u1", surface: "web" },
  });
  assert.equal(await bench.count("feed", "kind = 'item' AND ref = 'i1' AND version = 2"), 1);
});

Deno.test("the first of two racing decisions wins and the other is shown the winner", async () => {
  await using bench = await Bench.open();
  for (let round = 0; round < 20; round++) {
    const id = `i${round}`;
    await bench.item(id);

    const results = await Promise.all([
      decide(bench.db, bench.request(id, { decision: "allow_once" })),
      decide(bench.other, bench.request(id, { decision: "reject_once" }, approver)),
    ]);

    const winner = results.find((result) => result.ok);
    const loser = results.find((result) => !result.ok);
    assert.ok(winner?.ok && loser && !loser.ok);
    assert.equal(loser.error.code, "conflict");
    assert.equal(loser.winner?.decision?.decision, winner.value.decision?.decision);
  }
  assert.equal(await bench.count("messages", "type = 'approval.decide'"), 20);
});

Deno.test("the same decision again by the same person is answered as the first one was", async () => {
  await using bench = await Bench.open();
  await bench.item("i1");
  const once = bench.request("i1", { decision: "allow_once" });
  await decide(bench.db, once);

  const again = await decide(bench.db, once);
  await bench.db.batch([sql("UPDATE pending_items SET state = 'applied', version = 3")]);
  const later = await decide(bench.db, once);

  assert.ok(again.ok && again.repeated && later.ok && later.repeated);
  assert.equal(
    code(await decide(bench.db, bench.request("i1", { decision: "allow_once" }, approver))),
    "conflict",
  );
  assert.equal(code(await decide(bench.db, bench.request("i1", { decision: "cancel" }))), "conflict");
  assert.equal(await bench.count("messages"), 1);
});

Deno.test("a decision on another version than the one that waits is a conflict", async () => {
  await using bench = await Bench.open();
  await bench.item("i1");

  assert.equal(
    code(await decide(bench.db, bench.request("i1", { decision: "allow_once" }, owner, 2))),
    "conflict",
  );

  assert.equal(await bench.count("pending_items", "state = 'waiting'"), 1);
});

Deno.test("decide() refuses what does not fit the item, the body or the person", async () => {
  await using bench = await Bench.open();
  await bench.item("i1");
  await bench.item("q1", { kind: "question" });
  await bench.item("n1", { described: { askOnce: true } });
  await bench.item("w1", { conversation: "w1" });
  await bench.item("t1", { tool: "write_file", described: { class: "write" } });
  await bench.gate({ twoPersons: ["@fs_write"] });
  const rule = { action: "allow" as const, toolPattern: "x", pathPattern: null, argvPrefix: null };
  const rows: readonly (readonly [string, DecideRequest["body"], Viewer, string])[] = [
    ["gone", { decision: "allow_once" }, owner, "not_found"],
    ["i1", { decision: "answer", answer: "x" }, owner, "bad_request"],
    ["q1", { decision: "allow_once" }, owner, "bad_request"],
    ["q1", { decision: "answer" }, owner, "bad_request"],
    ["i1", { decision: "edit_and_allow" }, owner, "bad_request"],
    ["i1", { decision: "allow_always" }, owner, "bad_request"],
    ["i1", { decision: "reject_always", rule }, owner, "bad_request"],
    ["i1", { decision: "allow_always", rule: { ...rule, argvPrefix: ["bash", "-c"] } }, owner, "bad_request"],
    ["i1", { decision: "allow_always", rule }, approver, "forbidden"],
    ["i1", { decision: "allow_session", scope: "all" }, approver, "forbidden"],
    ["i1", { decision: "allow_session", scope: "category" }, approver, "forbidden"],
    ["t1", { decision: "edit_and_allow", arguments: {} }, owner, "bad_request"],
    ["i1", { decision: "allow_once" }, looker, "forbidden"],
    ["w1", { decision: "allow_once" }, approver, "forbidden"],
    ["n1", { decision: "allow_session" }, owner, "bad_request"],
    ["n1", { decision: "allow_always", rule }, owner, "bad_request"],
  ];

  for (const [id, body, viewer, expected] of rows) {
    assert.equal(
      code(await decide(bench.db, bench.request(id, body, viewer))),
      expected,
      `${id} ${body.decision}`,
    );
  }

  assert.equal(await bench.count("pending_items", "state <> 'waiting'"), 0);
  assert.equal(await bench.count("messages"), 0);
});

Deno.test("whoever asked for a call, by either of their accounts, may not allow it when the settings say so", async () => {
  await using bench = await Bench.open();
  await bench.db.batch([
    sql(
      "INSERT INTO users (id, name, role, zulip_user_id, created_at, updated_at) VALUES ('u2', 'Bo', 'approver', 12, 1, 1)",
    ),
  ]);
  const from = (kind: string, id: string) => ({
    trace: { steps: [], origin: { requestedBy: [{ kind, id }] } },
  });
  await bench.item("i1", from("zulip", "12"));
  await bench.item("i2", from("web", "u2"));
  await bench.item("i3", from("zulip", "12"));
  const allow = async (id: string, viewer: Viewer, decision: "allow_once" | "reject_once" = "allow_once") =>
    code(await decide(bench.db, bench.request(id, { decision }, viewer)));
  assert.equal(await allow("i3", approver), "ok", "nobody is barred unless the settings say so");

  await bench.gate({ requesterMayApprove: false });

  assert.equal(await allow("i1", approver), "forbidden");
  assert.equal(await allow("i2", approver), "forbidden");
  assert.equal(await allow("i1", owner), "ok");
  assert.equal(await allow("i2", approver, "reject_once"), "ok", "refusing is anybody's right");
});

Deno.test("items are listed by state and page, and only to those who may see their channel", async () => {
  await using bench = await Bench.open();
  for (const id of ["i1", "i2", "i3"]) await bench.item(id, { tool: "exec_command", arguments: "{not json" });
  await bench.item("w1", { conversation: "w1" });

  const first = await listItems(bench.db, { viewer: looker, state: "waiting", limit: 2 });
  const rest = await listItems(bench.db, { viewer: looker, state: "waiting", limit: 2, after: first.next });
  const all = await listItems(bench.db, { viewer: owner, limit: 10 });

  assert.deepEqual([first.items.map((item) => item.id), first.total, first.next], [
    ["i1", "i2"],
    3,
    first.next,
  ]);
  assert.deepEqual([rest.items.map((item) => item.id), rest.next], [["i3"], undefined]);
  assert.deepEqual(all.items.map((item) => item.id), ["w1", "i3", "i2", "i1"]);
  assert.equal(first.items[0]?.arguments, undefined);
  assert.equal(await getItem(bench.db, "w1", looker), undefined);
});

Deno.test("what waits is listed over all pages: what was handed on, then the riskiest, among equals the oldest", async () => {
  await using bench = await Bench.open();
  const risks = ["low", "high", null, "medium", "high"];
  for (const [index, risk] of risks.entries()) {
    await bench.item(`i${index}`);
    await bench.db.batch([sql("UPDATE pending_items SET risk = ? WHERE id = ?", risk, `i${index}`)]);
  }
  await bench.db.batch([
    sql("UPDATE pending_items SET escalated_at = 1, escalation = 1 WHERE id IN ('i2', 'i3')"),
  ]);
  const seen: string[] = [];

  let after: string | undefined;
  do {
    const page = await listItems(bench.db, { viewer: owner, state: "waiting", limit: 2, after });
    seen.push(...page.items.map(({ id }) => id));
    after = page.next;
  } while (after !== undefined);

  assert.deepEqual(seen, ["i3", "i2", "i1", "i4", "i0"]);
});

Deno.test("a virgin start is seeded once, and what a person deletes stays deleted", async () => {
  await using bench = await Bench.open();

  const seeded = await Promise.all([seed(bench.db, 1), seed(bench.other, 1)]);
  assert.deepEqual(seeded.sort(), [false, true]);
  assert.equal(await bench.count("rules", "layer = 'protected' AND action = 'deny'"), 4);
  assert.equal(await bench.count("rules", "tool_pattern = 'ask_user' AND action = 'allow'"), 1);
  assert.equal(await bench.count("profiles", "id = 'default' AND group_id = 'default'"), 1);
  await bench.db.batch([sql("DELETE FROM rules WHERE id = 'seed-mcp'")]);

  assert.equal(await seed(bench.db, 2), false);

  assert.equal(await bench.count("rules", "id = 'seed-mcp'"), 0);
});

Deno.test("a new session of the supervisor ends every bypass", async () => {
  await using bench = await Bench.open();
  const bypass = {
    op: "bypass.create",
    id: "b",
    conversation: "c1",
    scope: "all",
    pattern: null,
    grantedBy: "u1",
    surface: "web",
    expiresAt: 9,
  };
  const made = opStatements(bypass, { ref: "approval", kind: "approval", id: "approval", now: 5 });
  assert.ok(made.ok);
  await bench.db.batch(made.value);

  await bench.db.batch(endBypasses(7));

  assert.equal(await bench.count("bypasses", "ended_at = 7 AND ended_reason = 'restart'"), 1);
});

Deno.test("what has run out cannot be decided, whether its alarm was heard or not", async () => {
  await using bench = await Bench.open();
  await bench.item("i1", { expiresAt: 10 });

  const late = await decide(bench.db, bench.request("i1", { decision: "allow_once" }));

  assert.equal(code(late), "conflict");
  assert.equal(await bench.count("messages"), 0);
});

Deno.test("an answer that is a secret is only taken sealed", async () => {
  await using bench = await Bench.open();
  const { sealTo } = await newSealKey();
  await bench.item("i1", { kind: "elicitation", question: { text: "?", suggestions: [], sealTo } });

  const open = await decide(bench.db, bench.request("i1", { decision: "answer", answer: "hunter2" }));
  const sealed = await seal(sealTo, "hunter2");
  const taken = await decide(bench.db, bench.request("i1", { decision: "answer", answer: sealed }));

  assert.equal(code(open), "bad_request");
  assert.equal(code(taken), "ok");
  assert.equal(await bench.count("messages", "payload LIKE '%hunter2%'"), 0);
});

Deno.test("an item for two people says so and who the first was, and takes the second's word alone", async () => {
  await using bench = await Bench.open();
  await bench.gate({ twoPersons: ["@fs_write"] });
  await bench.item("t1", { tool: "write_file", described: { class: "write" } });
  await bench.item("i1", { tool: "read_file", described: { class: "read" } });
  const first = { by: "Owner", identity: owner.userId, at: 4 };
  await bench.db.batch([
    sql("UPDATE pending_items SET first_approval = ? WHERE id = 't1'", JSON.stringify(first)),
  ]);

  const { items } = await listItems(bench.db, { viewer: owner, state: "waiting", limit: 5 });
  assert.deepEqual(items.map(({ id, twoPersons, firstApproval }) => [id, twoPersons, firstApproval]), [
    ["i1", undefined, undefined],
    ["t1", true, { id: owner.userId, by: "Owner", at: 4 }],
  ]);
  const allow = (viewer: Viewer) => decide(bench.db, bench.request("t1", { decision: "allow_once" }, viewer));
  assert.equal(code(await allow(owner)), "forbidden");
  assert.equal((await allow(approver)).ok, true);
});

Deno.test("an item is for two people by what a trusted server says of its tool, as approval sees it", async () => {
  await using bench = await Bench.open();
  await bench.gate({ twoPersons: ["@mcp_destructive"] });
  const hints = JSON.stringify({ destructive: false });
  for (const [name, trusted] of [["mcp__a__x", 1], ["mcp__b__x", 0]] as const) {
    await bench.item(name, { tool: name, described: { class: "mcp" } });
    await bench.db.batch([sql(
      `INSERT INTO known_tools (name, source, class, description, parameters, schema_hash, hints, trusted, available, first_seen, last_seen)
       VALUES (?, 'mcp:a', 'mcp', '', '{}', 'h', ?, ?, 1, 1, 1)`,
      name,
      hints,
      trusted,
    )]);
  }

  const { items } = await listItems(bench.db, { viewer: owner, state: "waiting", limit: 5 });

  assert.deepEqual(items.map(({ id, twoPersons }) => [id, twoPersons]), [
    ["mcp__a__x", undefined],
    ["mcp__b__x", true],
  ]);
});
