/**
 * Proves that the owner alone makes and unmakes people, that somebody always remains the owner, that approval hears of it and that each change is an
 * entry of the decisions log.
 */
import assert from "node:assert/strict";
import { SESSION_IDLE_MS } from "../store/edge/sessions.ts";
import { putUser, userStands } from "../store/edge/users.ts";
import { withApproval } from "../tests/doubles/edge_and_approval.ts";
import { AuditList } from "./api.ts";
import { CHANNEL, withBench } from "../tests/doubles/edge_bench.ts";

const ada = {
  name: "Ada",
  role: "approver",
  zulipUserId: 12,
  channels: [{ id: CHANNEL, access: "approve" }],
};

Deno.test("a person is added with channels, signs in by a link, and approval knows them", () =>
  withBench(async (bench) => {
    await bench.conversation("c1");
    const owner = await bench.owner();
    await bench.clock.advance(1);

    const added = await owner.post("/api/users", ada);
    const { id } = await added.json();
    const { url } = await (await owner.post(`/api/users/${id}/link`)).json();
    const client = await bench.clientOf(await bench.signIn(new URL(url).hash.slice("#token=".length)));

    assert.equal(added.status, 201);
    assert.equal((await client.get("/api/conversations/c1")).status, 200);
    const known = await bench.rows<{ payload: string }>(
      "SELECT payload FROM messages WHERE type = 'people.known' AND state = 'queued'",
    );
    assert.equal(known.length, 1);
    const sessionUntil = bench.clock.now() + SESSION_IDLE_MS;
    assert.deepEqual(JSON.parse(known[0]?.payload ?? "").users, [
      {
        id: "owner",
        name: "Owner",
        role: "owner",
        zulipUserId: null,
        channels: [],
        sessionUntil: sessionUntil - 1,
      },
      { id, name: "Ada", role: "approver", zulipUserId: 12, channels: [CHANNEL], sessionUntil },
    ]);
  }));

Deno.test("a person who is changed or removed is another one, or out, at the next request", () =>
  withBench(async (bench) => {
    await bench.conversation("c1");
    const owner = await bench.owner();
    const approver = await bench.person("approver");
    const path = "/api/users/approver-approve";

    await owner.send("PUT", path, { ...ada, channels: [] });
    assert.equal((await approver.get("/api/conversations/c1")).status, 404);
    await owner.send("DELETE", path);
    assert.equal((await approver.get("/api/me")).status, 401);
    assert.deepEqual(await bench.rows("SELECT 1 FROM devices WHERE user_id = 'approver-approve'"), []);
    assert.deepEqual(await bench.rows("SELECT 1 FROM entitlements"), []);
  }));

Deno.test("the last owner can be neither removed nor made something else", () =>
  withBench(async (bench) => {
    const owner = await bench.owner();

    assert.equal((await owner.send("DELETE", "/api/users/owner")).status, 409);
    assert.equal((await owner.send("PUT", "/api/users/owner", ada)).status, 409);
    assert.equal((await (await owner.get("/api/me")).json()).user.role, "owner");
    const second = await (await owner.post("/api/users", { name: "Second", role: "owner" })).json();
    assert.equal((await owner.send("DELETE", "/api/users/owner")).status, 204);
    assert.equal((await bench.rows("SELECT id FROM users WHERE id = ?", second.id)).length, 1);
  }));

Deno.test("one Zulip user is linked to one person", () =>
  withBench(async (bench) => {
    const owner = await bench.owner();
    await owner.post("/api/users", ada);

    const again = await owner.post("/api/users", { ...ada, name: "Bob" });

    assert.equal(again.status, 409);
    assert.equal((await (await owner.get("/api/users")).json()).users.length, 2);
    assert.equal((await owner.post("/api/users", { ...ada, role: "admin" })).status, 400);
  }));

Deno.test("a start makes the owner and tells approval, and of several starts approval reads the newest", () =>
  withBench(async (bench) => {
    await bench.app.start();
    await bench.app.start();

    const known = await bench.rows("SELECT 1 FROM messages WHERE type = 'people.known' AND state = 'queued'");
    assert.equal(known.length, 1);
    assert.ok(bench.rung.includes("approval"));
  }));

Deno.test("each change of a person is an entry of the decisions log, by whom and with before and after", () =>
  withApproval(async (bench, owner) => {
    const { id } = await (await owner.post("/api/users", ada)).json();
    const path = `/api/users/${id}`;
    await owner.send("PUT", path, { name: "Ada", role: "viewer" });
    await owner.post(`${path}/link`);
    await owner.send("DELETE", path);

    const unread = "SELECT 1 FROM messages WHERE to_ref = 'approval' AND state <> 'done'";
    while ((await bench.rows(unread)).length > 0) await new Promise<void>((resolve) => setImmediate(resolve));
    const { entries } = AuditList.parse(await (await owner.get("/api/audit")).json());
    const known = { name: "Ada", role: "approver", zulipUserId: 12, channels: ada.channels };
    const changed = { name: "Ada", role: "viewer", zulipUserId: null, channels: [] };
    assert.deepEqual(entries.map(({ kind, actor, decision, body }) => [kind, actor, decision, body]), [
      ["people", "owner", "user.create", { id, before: null, after: known, by: "Owner" }],
      ["people", "owner", "user.update", { id, before: known, after: changed, by: "Owner" }],
      ["people", "owner", "user.link", { id, before: changed, after: changed, by: "Owner" }],
      ["people", "owner", "user.delete", { id, before: changed, after: null, by: "Owner" }],
    ]);
    assert.deepEqual(await (await owner.get("/api/audit/verify")).json(), { ok: true, entries: 4 });
  }));

Deno.test("a change that is refused leaves no entry", () =>
  withBench(async (bench) => {
    const owner = await bench.owner();
    await owner.send("DELETE", "/api/users/owner");

    assert.deepEqual(await bench.rows("SELECT 1 FROM messages WHERE type = 'person.changed'"), []);
  }));

Deno.test("what the log calls before is what stood there: of two changes of one person the later one that saw neither fails", () =>
  withBench(async (bench) => {
    const channels = [{ id: 7, access: "view" as const }, { id: 5, access: "approve" as const }];
    const person = { id: "u1", name: "Ada", role: "owner" as const, zulipUserId: null, channels };
    await bench.db.batch(putUser(person, 1));

    await bench.db.batch(userStands(person));
    const stale = [
      { name: "Ad" },
      { role: "viewer" as const },
      { zulipUserId: 12 },
      { channels: [] },
      { channels: [{ id: 5, access: "view" as const }, { id: 7, access: "view" as const }] },
    ];
    for (const was of stale) {
      await assert.rejects(bench.db.batch(userStands({ ...person, ...was })), /guard/, JSON.stringify(was));
    }
  }));
