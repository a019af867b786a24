/** Proves what holds for every answer: headers, one shape of errors, nothing leaked. And the static files, health and metrics. */
import assert from "node:assert/strict";
import { fail, ok, type Result } from "../lib/result.ts";
import { DbError } from "../store/db.ts";
import { OWNER_TOKEN, withBench } from "../tests/doubles/edge_bench.ts";
import { CONTENT_SECURITY_POLICY } from "./headers.ts";
import { folderUi } from "./ui_files.ts";

const PUBLIC_HOST = { host: "board.example.org" };

Deno.test("every answer carries the security headers, whatever became of the request", () =>
  withBench(async (bench) => {
    const owner = await bench.owner();
    const answers = [
      await bench.app.request("/"),
      await bench.app.request("/app-ABCDEFGH.js"),
      await bench.app.request("/missing.js"),
      await bench.app.request("/healthz"),
      await bench.app.request("/readyz"),
      await bench.app.request("/metrics"),
      await bench.app.request("/api/me"),
      await bench.app.request("/api/me", { headers: { origin: "https://evil.example" } }),
      await bench.app.request("/api/me", { headers: { host: "evil.example" } }),
      await bench.app.request("/zulip/webhook", { method: "POST", body: "x" }),
      await owner.get("/api/me"),
      await owner.get("/api/inbox?state=typo"),
      await owner.send("PUT", "/api/me"),
      await owner.send("POST", "/api/conversations", { text: "x".repeat(1_100_000) }),
    ];

    for (const { headers, url } of answers) {
      assert.equal(headers.get("content-security-policy"), CONTENT_SECURITY_POLICY, url);
      assert.equal(headers.get("x-content-type-options"), "nosniff");
      assert.equal(headers.get("x-frame-options"), "DENY");
      assert.equal(headers.get("referrer-policy"), "no-referrer");
      assert.equal(headers.get("cross-origin-resource-policy"), "same-origin");
      assert.ok(headers.get("cache-control"));
      assert.equal(headers.get("access-control-allow-origin"), null);
      assert.equal(headers.get("strict-transport-security"), null);
    }
    const stream = await owner.get("/api/stream");
    assert.equal(stream.headers.get("content-security-policy"), CONTENT_SECURITY_POLICY);
    assert.match(stream.headers.get("cache-control") ?? "", /no-store/);
    await stream.body?.cancel();
    assert.ok(!/unsafe|\*|https?:/.test(CONTENT_SECURITY_POLICY));
  }));

Deno.test("under an https PUBLIC_URL browsers are told to stay there", () =>
  withBench(async (bench) => {
    const answer = await bench.app.request("/healthz", { headers: PUBLIC_HOST });

    assert.match(answer.headers.get("strict-transport-security") ?? "", /max-age=\d+/);
  }, { config: { publicUrl: "https://board.example.org" } }));

Deno.test("a PUBLIC_URL that is no safe origin refuses the start", async () => {
  for (
    const publicUrl of [
      "http://board.example.org",
      "https://board.example.org/path",
      "board",
      "https://a:b@c.example",
    ]
  ) {
    await assert.rejects(
      withBench(() => Promise.resolve(), { config: { publicUrl } }),
      /PUBLIC_URL/,
      publicUrl,
    );
  }
});

Deno.test("errors have one shape and a fitting status", () =>
  withBench(async (bench) => {
    const owner = await bench.owner();
    const cases: readonly [Promise<Response>, number, string][] = [
      [bench.app.request("/api/me"), 401, "unauthorized"],
      [owner.get("/api/nothing"), 404, "not_found"],
      [owner.get("/api/inbox/nothing"), 404, "not_found"],
      [owner.get("/nothing.txt"), 404, "not_found"],
      [owner.send("PUT", "/api/inbox/i1"), 405, "method_not_allowed"],
      [owner.send("DELETE", "/api/me"), 405, "method_not_allowed"],
      [owner.post("/api/conversations", { text: 1 }), 400, "bad_request"],
      [owner.send("POST", "/api/conversations", { text: "x".repeat(1_100_000) }), 413, "too_large"],
      [owner.send("POST", "/api/conversations"), 415, "unsupported_media_type"],
    ];

    for (const [asked, status, code] of cases) {
      const answer = await asked;
      const body = await answer.json();
      assert.equal(answer.status, status, code);
      assert.deepEqual(Object.keys(body), ["error"]);
      assert.deepEqual(Object.keys(body.error), ["code", "message"]);
      assert.equal(body.error.code, code);
    }
    const malformed = await owner.send("POST", "/api/conversations", undefined, {
      "content-type": "application/json",
    });
    assert.equal(malformed.status, 400);
  }));

Deno.test("an unexpected error is logged by its place and answered without detail", () =>
  withBench(async (bench) => {
    const owner = await bench.owner();
    bench.db.query = () => Promise.reject(new TypeError("secret words of a person"));

    const answer = await owner.get("/api/audit");

    assert.equal(answer.status, 500);
    assert.deepEqual((await answer.json()).error.code, "internal");
    const log = bench.logged.join();
    assert.match(log, /TypeError/);
    assert.ok(!log.includes("secret words"));
  }));

Deno.test("an unreachable database is a 503 that asks to try again", () =>
  withBench(async (bench) => {
    const owner = await bench.owner();
    bench.db.queryAll = () => Promise.reject(new DbError("connection", "libsql://host?token=secret"));

    const answer = await owner.get("/api/inbox");

    assert.equal(answer.status, 503);
    assert.ok(!(await answer.text()).includes("secret"));
  }));

Deno.test("a database of another schema closes the API and the webhook, not the health page", () => {
  let schema: Result<number> = fail("schema_mismatch", "The database has schema 9", true);
  return withBench(async (bench) => {
    assert.equal((await bench.signIn(OWNER_TOKEN)).status, 503);
    assert.equal((await bench.app.request("/zulip/webhook", { method: "POST" })).status, 503);
    assert.equal((await bench.app.request("/healthz")).status, 200);
    const ready = await (await bench.app.request("/readyz")).json();
    assert.deepEqual(ready, { ready: false, reasons: ["The database has schema 9"] });
    schema = ok(1);
    assert.equal((await bench.signIn(OWNER_TOKEN)).status, 201);
  }, { deps: { schema: () => Promise.resolve(schema) } });
});

Deno.test("the UI's files are sent with ETags, hashed names for ever, screens as the index", () =>
  withBench(async (bench) => {
    const index = await bench.app.request("/");
    const etag = index.headers.get("etag") ?? "";
    const hashed = await bench.app.request("/app-ABCDEFGH.js");

    assert.match(await index.text(), /Callboard/);
    assert.equal(index.headers.get("cache-control"), "no-cache");
    assert.equal(hashed.headers.get("cache-control"), "public, max-age=31536000, immutable");
    assert.equal(hashed.headers.get("content-type"), "text/javascript; charset=utf-8");
    const again = await bench.app.request("/", { headers: { "if-none-match": `W/${etag}` } });
    assert.equal(again.status, 304);
    assert.match(await (await bench.app.request("/inbox/some-item")).text(), /Callboard/);
    assert.equal((await bench.app.request("/", { method: "HEAD" })).status, 200);
    for (
      const path of ["/missing.js", "/../store/db.ts", "/%2e%2e/store/db.ts", "/zulip/x", "/api-ABCDEFGH.js"]
    ) {
      assert.equal((await bench.app.request(path)).status, 404, path);
    }
    assert.equal((await bench.app.request("/", { method: "POST" })).status, 404);
  }));

Deno.test("readiness needs a supervisor at work and says what is missing", () => {
  let reasons: string[] = [];
  return withBench(async (bench) => {
    const ready = async () => {
      const answer = await bench.app.request("/readyz");
      return [answer.status, (await answer.json()).reasons];
    };

    assert.deepEqual(await ready(), [503, ["the supervisor is away"]]);
    await bench.lease();
    assert.deepEqual(await ready(), [200, []]);
    reasons = ["models is restarting"];
    assert.deepEqual(await ready(), [503, ["models is restarting"]]);
    reasons = [];
    await bench.run("UPDATE leases SET expires_at = 1");
    assert.deepEqual(await ready(), [503, ["the supervisor is away"]]);
  }, { deps: { unready: () => reasons } });
});

Deno.test("metrics count rows and requests, and name nobody", () =>
  withBench(async (bench) => {
    await bench.conversation("c1");
    await bench.item("i1", "c1");
    await bench.item("i2", "c1");
    await bench.run("UPDATE pending_items SET state = 'expired' WHERE id = 'i2'");
    const owner = await bench.owner();
    await owner.post("/api/conversations/c1/messages", { text: "hello" });
    const stream = await owner.get("/api/stream");

    const text = await (await bench.app.request("/metrics")).text();

    for (
      const line of [
        'callboard_items{state="waiting"} 1',
        "callboard_expired_undecided_total 1",
        'callboard_messages_queued{lane="normal"} 1',
        "callboard_supervisor_up 0",
        "callboard_streams 1",
        'callboard_http_requests_total{method="POST",status="2xx"} 2',
        'callboard_extra{kind="x"} 5',
      ]
    ) assert.ok(text.includes(`${line}\n`), line);
    assert.ok(!/Title of|c1|Owner/.test(text));
    await stream.body?.cancel();
  }, {
    deps: {
      metrics: () => [{
        name: "callboard_extra",
        help: "More.",
        type: "gauge",
        samples: [{ labels: { kind: "x" }, value: 5 }],
      }],
    },
  }));

Deno.test("pages that were never built are named, and how to build them", async () => {
  await assert.rejects(folderUi("/nowhere/build/ui"), /not built .*\/nowhere\/build\/ui.*deno task build/);
});
