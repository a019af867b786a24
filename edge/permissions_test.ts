/** Proves who may call what: every route, every kind of caller, and requests from other sites. */
import assert from "node:assert/strict";
import { type Bench, type Client, withBench } from "../tests/doubles/edge_bench.ts";

/** A call and the status that each caller gets. The bench has one conversation and item in the entitled channel, and a web chat. */
interface Row {
  readonly call: string;
  readonly body?: unknown;
  readonly nobody: number;
  readonly viewer: number;
  /** An approver who was only given sight of the channel. */
  readonly onlooker: number;
  readonly approver: number;
  readonly owner: number;
}

function row(call: string, statuses: string, body?: unknown): Row {
  const [nobody = 0, viewer = 0, onlooker = 0, approver = 0, owner = 0] = statuses.split(" ").map(Number);
  return { call, nobody, viewer, onlooker, approver, owner, ...(body === undefined ? {} : { body }) };
}

const decision = { version: 1, decision: "reject_once" };
const rule = { action: "deny", toolPattern: "exec_command" };
const forever = { version: 1, decision: "reject_always", rule };

const table: readonly Row[] = [
  //                                               nobody viewer onlooker approver owner
  row("GET /api/me", "401 200 200 200 200"),
  row("GET /api/devices", "401 200 200 200 200"),
  row("POST /api/devices/link", "401 201 201 201 201", {}),
  row("DELETE /api/devices/unknown", "401 404 404 404 404"),
  row("GET /api/passkeys", "401 200 200 200 200"),
  // The bench is opened at another address than its own, where no passkey is made.
  row("POST /api/passkeys/options", "401 409 409 409 409", {}),
  row("POST /api/passkeys", "401 409 409 409 409", {}),
  row("PATCH /api/passkeys/unknown", "401 404 404 404 404", { name: "Phone" }),
  row("DELETE /api/passkeys/unknown", "401 404 404 404 404"),
  row("POST /api/session/confirm/passkey/options", "401 409 409 409 409", {}),
  row("POST /api/session/confirm/passkey", "401 409 409 409 409", {}),
  row("GET /api/users", "401 403 403 403 200"),
  row("POST /api/users", "401 403 403 403 201", { name: "Ada", role: "viewer" }),
  row("PUT /api/users/viewer-view", "401 403 403 403 404", { name: "Ada", role: "owner" }),
  row("DELETE /api/users/unknown", "401 403 403 403 404"),
  row("POST /api/users/owner/link", "401 403 403 403 201", {}),
  row("GET /api/inbox", "401 200 200 200 200"),
  row("GET /api/inbox/seen-item", "401 200 200 200 200"),
  row("GET /api/inbox/web-item", "401 404 404 404 200"),
  row("POST /api/inbox/seen-item/seen", "401 204 204 204 204", {}),
  row("POST /api/inbox/web-item/seen", "401 404 404 404 204", {}),
  row("POST /api/inbox/seen-item/later", "401 403 403 200 200", { until: Date.UTC(2026, 11, 1) }),
  row("GET /api/inbox/seen-item/rules", "401 403 403 403 200"),
  row("POST /api/inbox/seen-item/undo", "401 403 403 503 503", {}),
  row("GET /api/inbox/seen-item/deciders", "401 403 403 200 200"),
  row("GET /api/inbox/web-item/deciders", "401 404 404 404 200"),
  row("POST /api/inbox/seen-item/delegate", "401 403 403 200 200", { userId: "owner" }),
  row("POST /api/inbox/web-item/delegate", "401 404 404 404 200", { userId: null }),
  row("POST /api/inbox/web-item/delegate", "401 404 404 404 400", { userId: "approver-approve" }),
  row("POST /api/inbox/seen-item/decision", "401 403 403 403 200", forever),
  row("POST /api/inbox/seen-item/decision", "401 403 403 403 409", {
    version: 1,
    decision: "allow_session",
    scope: "all",
  }),
  row("POST /api/inbox/web-item/decision", "401 404 404 404 200", decision),
  row("GET /api/conversations", "401 200 200 200 200"),
  row("POST /api/conversations", "401 403 403 403 202", { text: "hello" }),
  row("GET /api/conversations/seen", "401 200 200 200 200"),
  row("GET /api/conversations/web", "401 404 404 404 200"),
  row("GET /api/conversations/none", "401 404 404 404 404"),
  row("GET /api/conversations/seen/events", "401 200 200 200 200"),
  row("GET /api/conversations/web/events", "401 404 404 404 200"),
  row("POST /api/conversations/seen/messages", "401 403 403 202 202", { text: "hello" }),
  row("POST /api/conversations/web/messages", "401 404 404 404 202", { text: "hello" }),
  row("POST /api/conversations/seen/stop", "401 403 403 202 202", {}),
  row("POST /api/conversations/seen/reset", "401 403 403 202 202", {}),
  row("POST /api/conversations/seen/model", "401 403 403 202 202", { model: "callboard/rehearsal" }),
  row("GET /api/actors", "401 200 200 200 200"),
  row("POST /api/actors/conversation%2Fseen/restart", "401 403 403 202 202", {}),
  row("POST /api/actors/conversation%2Fweb/restart", "401 404 404 404 202", {}),
  row("POST /api/actors/toolbox/restart", "401 403 403 403 202", {}),
  row("POST /api/actors/edge/restart", "401 404 404 404 404", {}),
  row("GET /api/rules", "401 403 200 200 200"),
  row("GET /api/rules/explain?tool=exec_command", "401 403 200 200 200"),
  row("POST /api/rules", "401 403 403 403 503", rule),
  row("DELETE /api/rules/r1", "401 403 403 403 503"),
  row("POST /api/rules/explain", "401 403 200 200 200", { tool: "exec_command", command: "ls" }),
  row("POST /api/rules/explain", "401 403 404 404 200", { tool: "exec_command", conversation: "web" }),
  row("GET /api/rules/lint", "401 403 200 200 200"),
  row("POST /api/rules/preview", "401 403 200 200 200", { rule }),
  row("POST /api/rules/order", "401 403 403 403 503", { groupId: "default", ids: ["r1"] }),
  row("PUT /api/rules/r1", "401 403 403 403 503", rule),
  // Named like the preview, and no question all the same.
  row("PUT /api/rules/preview", "401 403 403 403 503", rule),
  row("DELETE /api/rules/preview", "401 403 403 403 503"),
  row("GET /api/groups", "401 403 200 200 200"),
  row("POST /api/groups", "401 403 403 403 503", { name: "G" }),
  row("POST /api/groups/g1/duplicate", "401 403 403 403 503", { name: "G" }),
  row("PUT /api/groups/g1", "401 403 403 403 503", { name: "G" }),
  row("DELETE /api/groups/g1", "401 403 403 403 503"),
  row("PUT /api/profiles/default/group", "401 403 403 403 503", { groupId: "g1" }),
  row("GET /api/audit/export", "401 403 403 403 200"),
  row("POST /api/audit/1/revert", "401 403 403 403 404", {}),
  row("GET /api/bypasses", "401 200 200 200 200"),
  row("DELETE /api/bypasses/unknown", "401 404 404 404 404"),
  row("GET /api/profiles", "401 403 200 200 200"),
  row("POST /api/profiles", "401 403 403 403 503", { name: "P" }),
  row("PATCH /api/profiles/default", "401 403 403 403 503", { name: "P" }),
  row("DELETE /api/profiles/p1", "401 403 403 403 503"),
  row("PUT /api/conversations/seen/profile", "401 403 403 403 503", { profile: "default" }),
  row("GET /api/tools", "401 403 200 200 200"),
  row("GET /api/gate", "401 403 200 200 200"),
  row("PUT /api/gate", "401 403 403 403 503", { twoPersons: ["exec_command"] }),
  row("GET /api/effects", "401 200 200 200 200"),
  row("POST /api/effects/suspend", "401 403 403 403 503", {}),
  row("POST /api/effects/resume", "401 403 403 403 503", {}),
  row("GET /api/schedules", "401 200 200 200 200"),
  row("DELETE /api/schedules/unknown", "401 404 404 404 404"),
  row("GET /api/commands/unknown", "401 403 404 404 404"),
  row("GET /api/dead-letters", "401 403 403 403 200"),
  row("POST /api/dead-letters/unknown/retry", "401 403 403 403 404", {}),
  row("POST /api/dead-letters/unknown/discard", "401 403 403 403 404", {}),
  row("GET /api/audit", "401 403 403 403 200"),
  row("GET /api/audit/verify", "401 403 403 403 200"),
  row("GET /api/stream", "401 200 200 200 200"),
  row("GET /api/unknown", "401 404 404 404 404"),
  row("DELETE /api/session", "401 204 204 204 204"),
];

async function people(bench: Bench): Promise<Record<"viewer" | "onlooker" | "approver" | "owner", Client>> {
  return {
    viewer: await bench.person("viewer"),
    onlooker: await bench.person("approver", "view"),
    approver: await bench.person("approver"),
    owner: await bench.owner(),
  };
}

async function furnish(bench: Bench): Promise<void> {
  await bench.conversation("seen");
  await bench.conversation("web", null);
  await bench.item("seen-item", "seen");
  await bench.item("web-item", "web");
}

async function call(bench: Bench, client: Client | undefined, { call, body }: Row): Promise<number> {
  const [method = "", path = ""] = call.split(" ");
  const response = client ? await client.send(method, path, body) : await bench.app.request(path, {
    method,
    headers: { "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  await response.body?.cancel();
  return response.status;
}

Deno.test("every route answers every kind of caller as the table says", () =>
  withBench(async (bench) => {
    await furnish(bench);
    const known = await people(bench);

    for (const row of table) {
      const got = {
        call: row.call,
        nobody: await call(bench, undefined, row),
        viewer: await call(bench, known.viewer, row),
        onlooker: await call(bench, known.onlooker, row),
        approver: await call(bench, known.approver, row),
        owner: await call(bench, known.owner, row),
      };
      const { body: _, ...wanted } = row;
      assert.deepEqual(got, wanted);
      await bench.run("DELETE FROM rate_limits");
    }
  }));

Deno.test("every API route refuses another site's page, whoever is signed in", () =>
  withBench(async (bench) => {
    await furnish(bench);
    const owner = await bench.owner();
    const foreign = [
      { origin: "https://evil.example" },
      { origin: "http://localhost:9999" },
      { origin: "null" },
      { origin: "http://localhost", "sec-fetch-site": "cross-site" },
      { origin: "http://localhost", "sec-fetch-site": "same-site" },
    ];

    for (const { call, body } of table) {
      const [method = "", path = ""] = call.split(" ");
      for (const headers of foreign) {
        const response = await owner.send(method, path, body, headers);
        await response.body?.cancel();
        assert.equal(response.status, 403, `${call} from ${JSON.stringify(headers)}`);
      }
    }
    assert.equal((await bench.rows("SELECT 1 FROM messages")).length, 0);
  }));

Deno.test("a state-changing call without its CSRF header is refused", () =>
  withBench(async (bench) => {
    await furnish(bench);
    const owner = await bench.owner();

    for (const { call, body } of table.filter(({ call }) => !call.startsWith("GET"))) {
      const [method = "", path = ""] = call.split(" ");
      for (const token of ["", "0".repeat(64)]) {
        const response = await owner.send(method, path, body, { "x-callboard-csrf": token });
        assert.equal(response.status, 403, call);
      }
    }
  }));

Deno.test("a host that is not ours is refused on every path", () =>
  withBench(async (bench) => {
    for (const path of ["/", "/api/me", "/healthz", "/metrics", "/zulip/webhook"]) {
      for (
        const host of ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "user@localhost"]
      ) {
        const response = await bench.app.request(path, { headers: { host } });
        assert.equal(response.status, 403, `${path} at ${host}`);
      }
    }
    for (const host of ["localhost:8787", "127.0.0.1:1", "[::1]:8787"]) {
      assert.equal((await bench.app.request("/healthz", { headers: { host } })).status, 200, host);
    }
  }));

Deno.test("lists, transcripts and items show only what the person's channels allow", () =>
  withBench(async (bench) => {
    await furnish(bench);
    await bench.conversation("other", 8);
    await bench.item("other-item", "other");
    await bench.run(
      "INSERT INTO actors (ref, kind, created_at, updated_at) VALUES ('conversation/web', 'conversation', 1, 1)",
    );
    await bench.run(
      "INSERT INTO actors (ref, kind, created_at, updated_at) VALUES ('toolbox', 'toolbox', 1, 1)",
    );
    const { viewer, owner } = await people(bench);
    const seen = async (client: Client) => {
      const { items, total } = await (await client.get("/api/inbox?state=waiting")).json();
      const { conversations } = await (await client.get("/api/conversations")).json();
      const { actors } = await (await client.get("/api/actors")).json();
      const ids = (list: { id?: string; ref?: string }[]) => list.map((each) => each.id ?? each.ref).sort();
      return { items: ids(items), total, conversations: ids(conversations), actors: ids(actors) };
    };

    assert.deepEqual(await seen(viewer), {
      items: ["seen-item"],
      total: 1,
      conversations: ["seen"],
      actors: ["toolbox"],
    });
    assert.deepEqual(await seen(owner), {
      items: ["other-item", "seen-item", "web-item"],
      total: 3,
      conversations: ["other", "seen", "web"],
      actors: ["conversation/web", "toolbox"],
    });
  }));
