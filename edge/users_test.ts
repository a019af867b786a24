/** Proves that the owner alone makes and unmakes people, that somebody always remains the owner, and that approval hears of it. */
import assert from "node:assert/strict";
import { SESSION_IDLE_MS } from "../store/edge/sessions.ts";
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
