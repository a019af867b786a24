/** Proves that a session alone, however it was come by, makes no change that outlasts it. */
import assert from "node:assert/strict";
import { OWNER_TOKEN, withBench } from "../tests/doubles/edge_bench.ts";
import { FRESH_MS } from "./fresh.ts";

const rule = { action: "allow", toolPattern: "*" };
const sensitive:
  readonly (readonly [method: "POST" | "PUT" | "PATCH" | "DELETE", path: string, body?: unknown])[] = [
    ["POST", "/api/rules", rule],
    ["PUT", "/api/rules/r1", rule],
    ["DELETE", "/api/rules/r1"],
    ["POST", "/api/rules/order", { groupId: "default", ids: ["r1"] }],
    ["POST", "/api/groups", { name: "G" }],
    ["PUT", "/api/profiles/default/group", { groupId: "g1" }],
    ["POST", "/api/profiles", { name: "P" }],
    ["PATCH", "/api/profiles/default", { writePaths: ["/"] }],
    ["DELETE", "/api/profiles/p1"],
    ["PUT", "/api/conversations/c1/profile", { profile: "default" }],
    ["PUT", "/api/gate", {}],
    ["POST", "/api/audit/1/revert", {}],
    ["POST", "/api/users", { name: "Ada", role: "owner" }],
    ["PUT", "/api/users/owner", { name: "Ada", role: "owner" }],
    ["DELETE", "/api/users/owner"],
    ["POST", "/api/users/owner/link", {}],
    ["POST", "/api/devices/link", {}],
    ["POST", "/api/inbox/i1/decision", { version: 1, decision: "allow_always", rule }],
    ["POST", "/api/inbox/i1/decision", {
      version: 1,
      decision: "reject_always",
      rule: { ...rule, action: "deny" },
    }],
    ["POST", "/api/inbox/i1/decision", { version: 1, decision: "allow_session", scope: "all" }],
  ];

Deno.test("an old sign-in changes nothing that lasts, reads all, and decides single calls", () =>
  withBench(async (bench) => {
    await bench.conversation("c1");
    await bench.item("i1", "c1");
    const owner = await bench.owner();
    await bench.clock.advance(FRESH_MS);

    for (const [method, path, body] of sensitive) {
      const answer = await owner.send(method, path, body);
      assert.equal(answer.status, 403, `${method} ${path}`);
      assert.equal((await answer.json()).error.code, "reauthenticate", `${method} ${path}`);
    }
    assert.equal((await bench.rows("SELECT 1 FROM messages")).length, 0);
    assert.equal((await owner.get("/api/rules")).status, 200);
    assert.equal((await owner.post("/api/rules/preview", { rule })).status, 200);
    const once = await owner.post("/api/inbox/i1/decision", { version: 1, decision: "allow_once" });
    assert.equal(once.status, 200);
  }));

Deno.test("the owner token or a link's token of the same person confirms, and nothing else", () =>
  withBench(async (bench) => {
    const owner = await bench.owner();
    await bench.person("approver");
    await bench.clock.advance(FRESH_MS);
    const confirm = async (token: string) => (await owner.post("/api/session/confirm", { token })).status;
    const mayLink = async () => (await owner.post("/api/devices/link", {})).status;

    assert.equal(await confirm("wrong-token-0123456789abcdef"), 403);
    await bench.loginToken("approver-approve", "token-of-somebody-else-0123456789");
    assert.equal(await confirm("token-of-somebody-else-0123456789"), 403);
    assert.equal(await mayLink(), 403);
    assert.equal(await confirm(OWNER_TOKEN), 204);
    assert.equal(await mayLink(), 201);

    await bench.clock.advance(FRESH_MS);
    await bench.loginToken("owner", "fresh-token-of-the-owner-0123456789");
    assert.equal(await confirm("fresh-token-of-the-owner-0123456789"), 204);
    assert.equal(await mayLink(), 201);
    await bench.clock.advance(FRESH_MS);
    assert.equal(await confirm("fresh-token-of-the-owner-0123456789"), 403, "it works once");
  }));

Deno.test("guessing at a confirmation is limited like guessing at a sign-in", () =>
  withBench(async (bench) => {
    const owner = await bench.owner();
    const statuses: number[] = [];
    for (let attempt = 0; attempt < 12; attempt += 1) {
      statuses.push(
        (await owner.post("/api/session/confirm", { token: `wrong-token-number-${attempt}` })).status,
      );
    }

    assert.equal(statuses.at(-1), 429);
  }));
