/** Proves the rules' routes with the real approval actor behind them: what a person changes, sees beforehand, and takes back. */
import assert from "node:assert/strict";
import { GateSettings } from "../actors/protocol/approval.ts";
import { gateDefaults } from "../lib/gate_settings.ts";
import { verifyChain } from "../store/queries/chain.ts";
import { done, withApproval } from "../tests/doubles/edge_and_approval.ts";
import type { Bench, Client } from "../tests/doubles/edge_bench.ts";

const rule = { action: "allow", toolPattern: "exec_command", argvPrefix: ["git", "log"], note: "look" };

async function snapshot(bench: Bench): Promise<unknown> {
  return await bench.rows(
    `SELECT id, group_id, layer, ordinal, priority, action, tool_pattern, path_pattern, argv_prefix, note, max_uses FROM rules ORDER BY id`,
  );
}

Deno.test("every change of rules, groups and profiles can be taken back, newest first, and the log tells it all", () =>
  withApproval(async (bench, owner) => {
    const states = [await snapshot(bench)];
    const step = async (answer: Promise<Response>) => {
      const id = await done(bench, answer);
      states.push(await snapshot(bench));
      return id;
    };
    const a = await step(owner.post("/api/rules", rule));
    const b = await step(owner.post("/api/rules", { ...rule, action: "deny" }));
    await step(owner.send("PUT", `/api/rules/${a}`, { ...rule, action: "ask", maxUses: 3 }));
    await step(owner.post("/api/rules/order", { groupId: "default", ids: [b, a] }));
    await step(owner.send("DELETE", `/api/rules/${b}`));
    const group = await step(owner.post("/api/groups", { name: "Builders" }));
    const copy = await step(owner.post("/api/groups/default/duplicate", { name: "Copy", description: "d" }));
    await step(owner.send("PUT", `/api/groups/${copy}`, { name: "Renamed" }));
    await step(owner.send("PUT", "/api/profiles/default/group", { groupId: group }));
    await step(owner.send("DELETE", `/api/groups/${copy}`));
    await step(owner.send("PUT", "/api/gate", { twoPersons: ["mcp__*"], onExpiry: "park" }));
    assert.deepEqual((await (await owner.get("/api/gate")).json()).twoPersons, ["mcp__*"]);
    const { groups } = await (await owner.get("/api/groups")).json();
    assert.deepEqual(groups.map((each: { name: string; profiles: string[] }) => [each.name, each.profiles]), [
      ["Default", []],
      ["Builders", ["default"]],
    ]);

    const { entries } = await (await owner.get("/api/audit")).json();
    for (const entry of [...entries].reverse()) {
      assert.deepEqual(await snapshot(bench), states.pop());
      await done(bench, owner.post(`/api/audit/${entry.seq}/revert`));
    }

    assert.deepEqual(await snapshot(bench), states[0]);
    assert.equal((await verifyChain(bench.db)).ok, true);
    const [profile] = await bench.rows<{ group_id: string }>("SELECT group_id FROM profiles");
    assert.equal(profile?.group_id, "default");
    assert.deepEqual(await (await owner.get("/api/gate")).json(), gateDefaults);
    assert.deepEqual(GateSettings.parse({}), gateDefaults, "the protocol and the API begin alike");
    const again = await owner.post(`/api/audit/${entries[0].seq}/revert`);
    assert.equal(again.status, 409, "what was taken back is not taken back twice");
    const [, ...rest] = await bench.rows<{ body: string }>("SELECT body FROM decisions ORDER BY seq DESC");
    assert.equal(JSON.parse(rest[0]?.body ?? "").reverts, entries[1].seq);
  }));

Deno.test("a change is known to be overtaken however long the log has grown since", () =>
  withApproval(async (bench, owner) => {
    const id = await done(bench, owner.post("/api/rules", rule));
    await bench.run(
      `WITH RECURSIVE n(seq) AS (SELECT 2 UNION ALL SELECT seq + 1 FROM n WHERE seq < 10010)
       INSERT INTO decisions SELECT seq, 1, 'call', NULL, NULL, NULL, 'system', 'system', NULL, 'allow', NULL, '{}', 'p', 'h' || seq FROM n`,
    );
    const later = { id, before: rule, after: rule };
    await bench.run(
      "INSERT INTO decisions VALUES (10011, 1, 'policy', NULL, NULL, NULL, 'user:o', 'web', NULL, 'rule.update', NULL, ?, 'p', 'h')",
      JSON.stringify(later),
    );

    const answer = await owner.post("/api/audit/1/revert");

    assert.equal(answer.status, 409);
  }));

Deno.test("stopping everything is logged under the name of who did it", () =>
  withApproval(async (bench, owner) => {
    await done(bench, owner.post("/api/effects/suspend"));

    const { entries } = await (await owner.get("/api/audit?order=desc&limit=1")).json();

    const { user } = await (await owner.get("/api/me")).json();
    assert.deepEqual([entries[0].decision, entries[0].body.by], ["effects.suspend", user.name]);
  }));

Deno.test("the export has one line an entry, whose hashed text it keeps", () =>
  withApproval(async (bench, owner) => {
    await done(bench, owner.post("/api/rules", rule));
    await done(bench, owner.post("/api/rules", rule));

    const answer = await owner.get("/api/audit/export");

    const lines = (await answer.text()).trimEnd().split("\n").map((line) => JSON.parse(line));
    const stored = await bench.rows<{ body: string; hash: string }>("SELECT body, hash FROM decisions");
    assert.deepEqual(lines.map(({ body, hash }) => ({ body, hash })), stored.map((row) => ({ ...row })));
    assert.match(answer.headers.get("content-type") ?? "", /ndjson/);
    const outcome = await owner.post("/api/audit/7/revert");
    assert.equal(outcome.status, 404);
  }));

Deno.test("a dry run says what would happen to any call and why, with a conversation's bypasses, and leaves no trace", () =>
  withApproval(async (bench, owner) => {
    await bench.conversation("seen");
    await done(bench, owner.post("/api/rules", rule));
    const dry = async (body: unknown) => {
      const answer = await owner.post("/api/rules/explain", body);
      assert.equal(answer.status, 200);
      const { outcome, by } = await answer.json();
      return `${outcome} ${by}`;
    };
    const before = await bench.rows("SELECT seq FROM decisions");

    assert.equal(await dry({ tool: "exec_command", command: "git log -3" }), "allow rule");
    assert.equal(await dry({ tool: "exec_command", command: "git log -3; rm x" }), "ask rule");
    assert.equal(await dry({ tool: "exec_command", command: "git log $(rm x)" }), "ask rule");
    assert.equal(await dry({ tool: "exec_command", command: "git log", outside: true }), "deny default");
    const secret = [{ path: "/a/.ssh/id", access: "read" }];
    assert.equal(await dry({ tool: "write_file", paths: secret }), "deny rule");
    await bench.run(
      "INSERT INTO bypasses VALUES ('b', 'seen', 'tool', 'exec_command', 'owner', 'web', 0, 1, ?, NULL, NULL)",
      bench.clock.now() + 1000,
    );
    assert.equal(await dry({ tool: "exec_command", command: "rm x", conversation: "seen" }), "allow bypass");
    const timer = { tool: "exec_command", command: "rm x", conversation: "seen", trigger: "schedule" };
    assert.equal(await dry(timer), "ask rule", "a bypass is for what people begin");
    assert.equal(await dry({ tool: "never_heard_of" }), "ask rule");
    assert.deepEqual(await bench.rows("SELECT seq FROM decisions"), before);
    assert.equal((await owner.post("/api/rules/explain", { tool: "x", extra: 1 })).status, 400);
  }));

Deno.test("a preview names the calls that a rule would have matched, of those the caller may see, and why it may not be saved", () =>
  withApproval(async (bench, owner) => {
    await bench.conversation("seen");
    await bench.conversation("web", null);
    const insert = async (id: string, conversation: string, command: string) => {
      const described = {
        class: "exec",
        source: "builtin",
        summary: `Run: ${command}`,
        paths: [],
        outside: [],
      };
      const more = {
        argv: ["bash", "-c", command],
        sandboxed: true,
        askOnce: false,
        risk: "medium",
        idempotent: false,
      };
      await bench.run(
        `INSERT INTO tool_calls (id, conversation, turn_id, model_call_id, tool, arguments, state, described, created_at, updated_at)
         VALUES (?, ?, 't', ?, 'exec_command', '{}', 'finished', ?, ?, 1)`,
        id,
        conversation,
        id,
        JSON.stringify({ ...described, ...more }),
        id,
      );
    };
    for (
      const [id, where, command] of [
        ["1", "seen", "git log -1"],
        ["2", "seen", "git log && rm x"],
        ["3", "web", "git log -2"],
      ] as const
    ) await insert(id, where, command);
    const preview = async (client: Client, body: unknown) =>
      await (await client.post("/api/rules/preview", { rule: body })).json();

    const mine = await preview(owner, rule);
    const theirs = await preview(await bench.person("approver"), rule);

    assert.deepEqual(mine.matched.map((call: { callId: string }) => call.callId), ["3", "1"]);
    assert.equal(mine.examined, 3);
    assert.deepEqual(theirs.matched.map((call: { callId: string }) => call.callId), ["1"]);
    assert.match(
      (await preview(owner, { ...rule, argvPrefix: ["sudo"] })).problem,
      /would allow any command/,
    );
  }));

Deno.test("an item offers the rules that always may make of it, and one of them is taken", () =>
  withApproval(async (bench, owner) => {
    await bench.conversation("seen");
    await bench.item("i", "seen");
    const described = {
      class: "exec",
      source: "builtin",
      summary: "Run",
      paths: [],
      outside: [],
      sandboxed: true,
    };
    const more = { argv: ["bash", "-c", "git log -1"], askOnce: false, risk: "medium", idempotent: false };
    await bench.run(
      "UPDATE pending_items SET call_id = 'c', turn_id = 't', described = ?",
      JSON.stringify({ ...described, ...more }),
    );

    const { offers } = await (await owner.get("/api/inbox/i/rules")).json();

    assert.deepEqual(offers.map((offer: { label: string }) => offer.label), [
      "exactly this command line",
      "git log -1 … (with whatever follows)",
      "git log … (with whatever follows)",
    ]);
    const taken = await owner.post("/api/inbox/i/decision", {
      version: 1,
      decision: "allow_always",
      rule: offers[1].rule,
    });
    assert.equal(taken.status, 200);
  }));

Deno.test("an item can be handed to somebody who may decide it, and to nobody else", () =>
  withApproval(async (bench, owner) => {
    await bench.conversation("seen");
    await bench.item("i", "seen");
    const approver = await bench.person("approver");
    await bench.person("viewer");
    const namesFor = async (client: Client, item: string) => {
      const { people } = await (await client.get(`/api/inbox/${item}/deciders`)).json();
      return people.map(({ name }: { name: string }) => name);
    };

    const { user } = await (await owner.get("/api/me")).json();
    assert.deepEqual(await namesFor(owner, "i"), ["approver-approve"]);
    assert.deepEqual(await namesFor(approver, "i"), [user.name]);
    await bench.conversation("web", null);
    await bench.item("w", "web");
    assert.deepEqual(await namesFor(owner, "w"), [], "an approver decides nothing outside of their channels");
    const given = await owner.post("/api/inbox/i/delegate", { userId: "approver-approve" });
    const refused = await owner.post("/api/inbox/i/delegate", { userId: "viewer-approve" });

    assert.deepEqual((await given.json()).delegatedTo, { id: "approver-approve", name: "approver-approve" });
    assert.equal(refused.status, 400);
    assert.equal(
      (await (await owner.post("/api/inbox/i/delegate", { userId: null })).json()).delegatedTo,
      undefined,
    );
  }));

Deno.test("the lint speaks of the rules as they are stored", () =>
  withApproval(async (bench, owner) => {
    const id = await done(bench, owner.post("/api/rules", { action: "ask", toolPattern: "*", priority: 1 }));

    const { findings } = await (await owner.get("/api/rules/lint")).json();

    const hidden = findings.filter((found: { kind: string }) => found.kind === "shadowed");
    assert.ok(hidden.length > 5);
    assert.ok(hidden.every((found: { by: string }) => found.by === id));
  }));
