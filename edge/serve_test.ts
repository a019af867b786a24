/** Proves listening and stopping over a real socket, the doorbell's signature, and what the Deploy entry reads. */
import assert from "node:assert/strict";
import { systemClock } from "../lib/clock.ts";
import { sql } from "../store/db.ts";
import { openWebDb } from "../store/web_db.ts";
import { Bench, OWNER_TOKEN, WEBHOOK_TOKEN, withBench } from "../tests/doubles/edge_bench.ts";
import { FakeClock } from "../tests/doubles/fake_clock.ts";
import { startHranaServer } from "../tests/doubles/hrana_server.ts";
import { createApp } from "./app.ts";
import { remoteDoorbell, signDoorbell, verifyDoorbell } from "./doorbell.ts";
import { readEnvironment } from "./main.ts";
import { serve } from "./serve.ts";

const SECRET = "doorbell-secret-0123456789-0123456789";

Deno.test("a server stops though a browser holds its event stream open", () =>
  withBench(async (bench) => {
    const served = serve(bench.app, { host: "127.0.0.1", port: 0 });
    const signedIn = await fetch(`${served.url}/api/session`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ token: OWNER_TOKEN }),
    });
    await signedIn.body?.cancel();
    const cookie = signedIn.headers.get("set-cookie")?.split(";")[0] ?? "";
    const stream = await fetch(`${served.url}/api/stream`, { headers: { cookie } });
    assert.equal(stream.status, 200);

    await served.close();

    assert.match(await stream.text(), /event: hello/);
    await assert.rejects(fetch(`${served.url}/healthz`));
  }));

Deno.test("a browser that goes away ends its stream here", () =>
  withBench(async (bench) => {
    const served = serve(bench.app, { host: "127.0.0.1", port: 0 });
    const signedIn = await bench.signIn(OWNER_TOKEN);
    const cookie = signedIn.headers.get("set-cookie")?.split(";")[0] ?? "";
    const leaving = new AbortController();
    const stream = await fetch(`${served.url}/api/stream`, { headers: { cookie }, signal: leaving.signal });
    const reading = stream.text().catch(() => "cut");
    assert.match(await (await bench.app.request("/metrics")).text(), /callboard_streams 1/);

    leaving.abort();
    await reading;

    while (!/callboard_streams 0/.test(await (await bench.app.request("/metrics")).text())) {
      await new Promise<void>((resolve) => setImmediate(resolve));
    }
    assert.equal(bench.listeners.size, 0);
    await served.close();
  }));

Deno.test("plain http for other machines is refused, unless a proxy speaks https", async () => {
  const bench = await Bench.open();
  for (const host of ["0.0.0.0", "192.0.2.1", "::", "board.example.org"]) {
    assert.throws(() => serve(bench.app, { host, port: 0 }), /HOST/, host);
    assert.throws(() => serve(bench.app, { host, port: 0, publicUrl: "http://localhost:1" }), /HOST/, host);
  }
  await bench.close();
});

Deno.test("the supervisor's own addresses are answered before the application's", () =>
  withBench(async (bench) => {
    const before = (request: Request) =>
      Promise.resolve(
        new URL(request.url).pathname === "/doorbell" ? new Response(null, { status: 204 }) : undefined,
      );
    const served = serve(bench.app, { host: "127.0.0.1", port: 0, before });

    const doorbell = await fetch(`${served.url}/doorbell`, { method: "POST" });
    const health = await fetch(`${served.url}/healthz`);

    assert.equal(doorbell.status, 204);
    assert.deepEqual(await health.json(), { ok: true });
    await served.close();
  }));

async function ring(
  change: { secret?: string; now?: number; body?: string; signed?: string } = {},
): Promise<Request> {
  const body = change.body ?? '{"refs":["approval"]}';
  const headers = await signDoorbell(change.secret ?? SECRET, change.signed ?? body, change.now ?? 1_000_000);
  const length = { "content-length": String(body.length) };
  return new Request("http://localhost/doorbell", {
    method: "POST",
    headers: { ...headers, ...length },
    body,
  });
}

Deno.test("a doorbell is heard only when it is signed, fresh and one", async () => {
  const heard = async (request: Request) => await verifyDoorbell(SECRET, request, 1_000_000);

  assert.deepEqual(await heard(await ring()), ["approval"]);
  assert.deepEqual(await heard(await ring({ now: 1_059_000 })), ["approval"]);
  assert.equal(await heard(await ring({ now: 900_000 })), undefined);
  assert.equal(await heard(await ring({ now: 1_100_000 })), undefined);
  assert.equal(await heard(await ring({ secret: `${SECRET}x` })), undefined);
  assert.equal(
    await heard(await ring({ body: '{"refs":["zulip"]}', signed: '{"refs":["approval"]}' })),
    undefined,
  );
  assert.equal(await heard(await ring({ body: '{"refs":[]}' })), undefined);
  assert.equal(await heard(await ring({ body: "no json" })), undefined);
  assert.equal(await heard(await ring({ body: JSON.stringify({ refs: ["x".repeat(20_000)] }) })), undefined);
  assert.equal(await heard(new Request("http://localhost/doorbell", { method: "POST" })), undefined);
});

Deno.test("rings that come while one is under way go together, and a failing one only warns", async () => {
  const clock = new FakeClock(1_000_000);
  const bodies: string[] = [];
  const warnings: string[] = [];
  const doorbell = remoteDoorbell({
    url: "https://vps.example.org/doorbell",
    secret: SECRET,
    clock,
    log: (level, text) => void warnings.push(`${level} ${text}`),
    fetch: async (request) => {
      bodies.push(await request.text());
      if (bodies.length === 2) throw new TypeError(`connection to ${SECRET} failed`);
      return new Response(null, { status: bodies.length === 1 ? 204 : 403 });
    },
  });

  doorbell.ring(["approval"]);
  doorbell.ring(["zulip"]);
  doorbell.ring(["zulip", "conversation/c1"]);
  await doorbell.idle();
  doorbell.ring(["approval"]);
  await doorbell.idle();

  assert.deepEqual(bodies.map((body) => JSON.parse(body).refs), [["approval"], ["zulip", "conversation/c1"], [
    "approval",
  ]]);
  assert.deepEqual(warnings, ["warn The doorbell could not be rung", "warn The doorbell was refused"]);
  assert.equal(clock.pending, 0);
  assert.throws(
    () => remoteDoorbell({ url: "", secret: "short", clock, log: () => {}, fetch }),
    /DOORBELL_SECRET/,
  );
});

Deno.test("the Deploy entry names what is missing and quotes nothing", () => {
  const env = { LIBSQL_URL: "libsql://db.example.org", PUBLIC_URL: "https://board.example.org", OWNER_TOKEN };

  assert.equal(readEnvironment({ ...env, OTHER: "x" }).LIBSQL_URL, env.LIBSQL_URL);
  assert.throws(
    () => readEnvironment({ LIBSQL_URL: "file:secret.db", OWNER_TOKEN: "short-secret" }),
    (error: Error) =>
      ["LIBSQL_URL", "PUBLIC_URL", "OWNER_TOKEN"].every((name) => error.message.includes(name)) &&
      !error.message.includes("secret"),
  );
});

Deno.test("the edge keeps its promises over a remote database whose answers are lost", async () => {
  const bench = await Bench.open();
  await bench.db.close();
  const server = await startHranaServer(`${bench.folder}/edge.db`);
  const db = await openWebDb({ url: server.url });
  const app = createApp(bench.deps({ deps: { db, clock: systemClock } }));
  const json = { "content-type": "application/json" };
  const message = { id: 5, content: "hello" };

  const signedIn = await app.request("/api/session", {
    method: "POST",
    headers: json,
    body: JSON.stringify({ token: OWNER_TOKEN }),
  });
  const cookie = signedIn.headers.get("set-cookie")?.split(";")[0] ?? "";
  const { csrf } = await (await app.request("/api/me", { headers: { cookie } })).json();
  server.faults.push({ type: "drop_answer" });
  const delivered = await app.request("/zulip/webhook", {
    method: "POST",
    headers: json,
    body: JSON.stringify({ token: WEBHOOK_TOKEN, message }),
  });
  const begun = await app.request("/api/conversations", {
    method: "POST",
    headers: { ...json, cookie, "x-callboard-csrf": csrf },
    body: JSON.stringify({ text: "hello" }),
  });

  assert.equal(delivered.status, 200);
  assert.equal(begun.status, 202);
  const { rows } = await db.query(sql("SELECT type FROM messages WHERE type <> 'people.known' ORDER BY seq"));
  assert.deepEqual(rows, [["zulip.received"], ["conversation.message"]]);
  const receipts = await db.query(sql("SELECT deliveries FROM webhook_receipts"));
  assert.deepEqual(receipts.rows, [[1]]);
  await app.close();
  await db.close();
  await server.close();
  await Deno.remove(bench.folder, { recursive: true });
});
