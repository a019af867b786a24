/** Proves sign-in, cookies, devices, rate limits, and that secrets are stored and shown nowhere. */
import assert from "node:assert/strict";
import { Bench, OWNER_TOKEN, withBench } from "../tests/doubles/edge_bench.ts";
import { takeToken } from "../store/edge/rate_limits.ts";
import { SESSION_IDLE_MS, SESSION_MAX_MS, SESSION_TOUCH_MS } from "../store/edge/sessions.ts";
import { ensureOwner } from "../store/edge/users.ts";
import { createApp } from "./app.ts";

const MINUTE = 60_000;

function tokenOf(link: string): string {
  return new URL(link).hash.replace("#token=", "");
}

Deno.test("the printed link signs the owner in, by a token that stands in the fragment", () =>
  withBench(async (bench) => {
    const link = await bench.app.printedLink();

    assert.match(link, /^http:\/\/localhost:8787\/#token=[A-Za-z0-9_-]{43}$/);
    const client = await bench.clientOf(await bench.signIn(tokenOf(link)));
    const me = await (await client.get("/api/me")).json();
    assert.equal(me.user.role, "owner");
    assert.equal(me.realm, "https://zulip.example.org/");
  }));

Deno.test("a one-time token works once, whoever is faster", () =>
  withBench(async (bench) => {
    const token = tokenOf(await bench.app.printedLink());

    const race = await Promise.all(Array.from({ length: 6 }, () => bench.signIn(token)));

    assert.deepEqual(race.map((response) => response.status).sort(), [201, 401, 401, 401, 401, 401]);
    assert.equal((await bench.signIn(token)).status, 401);
    assert.equal((await bench.rows("SELECT 1 FROM sessions")).length, 1);
    assert.equal((await bench.rows("SELECT 1 FROM devices")).length, 1);
  }));

Deno.test("a one-time token is too old after fifteen minutes", () =>
  withBench(async (bench) => {
    const token = tokenOf(await bench.app.printedLink());

    await bench.clock.advance(15 * MINUTE);

    assert.equal((await bench.signIn(token)).status, 401);
  }));

Deno.test("the owner token signs in again and again, a wrong one never", () =>
  withBench(async (bench) => {
    assert.equal((await bench.signIn(OWNER_TOKEN)).status, 201);
    assert.equal((await bench.signIn(OWNER_TOKEN)).status, 201);
    assert.equal((await bench.signIn(OWNER_TOKEN.slice(0, -1) + "x")).status, 401);
    assert.equal((await bench.signIn(OWNER_TOKEN + "x")).status, 401);
  }));

Deno.test("an owner token of fewer than 32 characters refuses the start and is not quoted", async () => {
  const bench = await Bench.open();
  const short = "short-but-secret-token";

  assert.throws(() => createApp(bench.deps({ config: { ownerToken: short } })), (error: Error) => {
    return error instanceof RangeError && /OWNER_TOKEN/.test(error.message) && !error.message.includes(short);
  });
  await bench.close();
});

Deno.test("sign-in attempts of one address run out and come back with time", () =>
  withBench(async (bench) => {
    const attempt = async (peer: string) => {
      const headers = { "content-type": "application/json", host: "localhost" };
      const body = JSON.stringify({ token: "a wrong token of some length" });
      const request = new Request("http://localhost/api/session", { method: "POST", headers, body });
      return (await bench.app.fetch(request, peer)).status;
    };

    for (let index = 0; index < 10; index++) assert.equal(await attempt("192.0.2.1"), 401);
    assert.equal(await attempt("192.0.2.1"), 429);
    assert.equal(await attempt("192.0.2.2"), 401);
    await bench.clock.advance(6_000);
    assert.equal(await attempt("192.0.2.1"), 401);
    assert.equal(await attempt("192.0.2.1"), 429);
  }));

Deno.test("a token bucket gives no more than it holds to any number of takers at once", () =>
  withBench(async (bench) => {
    const bucket = { capacity: 3, perSecond: 0.5 };
    const take = (now: number) => takeToken(bench.db, "bucket", bucket, now);

    const taken = await Promise.all(Array.from({ length: 9 }, () => take(0)));

    assert.equal(taken.filter(Boolean).length, 3);
    assert.equal(await take(1_999), false);
    assert.equal(await take(2_000), true);
    assert.equal(await take(1_000), false, "a clock that went back gives nothing");
  }));

Deno.test("the cookie is HttpOnly and Strict, Secure with its prefix wherever there is TLS", () =>
  withBench(async (bench) => {
    const plain = (await bench.signIn(OWNER_TOKEN)).headers.get("set-cookie") ?? "";
    const origin = "https://board.example.org";
    const tls =
      (await bench.signIn(OWNER_TOKEN, { host: "board.example.org", origin })).headers.get("set-cookie") ??
        "";

    assert.match(plain, /^callboard=[^;]{43}; Max-Age=\d+; Path=\/; HttpOnly; SameSite=Strict$/);
    assert.match(tls, /^__Host-callboard=[^;]{43}; Max-Age=\d+; Path=\/; HttpOnly; Secure; SameSite=Strict$/);
  }, { config: { publicUrl: "https://board.example.org" } }));

Deno.test("a plain cookie does not sign in over TLS", () =>
  withBench(async (bench) => {
    const client = await bench.owner();

    const response = await bench.app.request("/api/me", {
      headers: { host: "board.example.org", cookie: client.cookie },
    });

    assert.equal(response.status, 401);
  }, { config: { publicUrl: "https://board.example.org" } }));

Deno.test("a session slides with use, ends after a month without, and after three at the latest", () =>
  withBench(async (bench) => {
    const used = await bench.owner();
    const left = await bench.owner();

    await bench.clock.advance(SESSION_IDLE_MS - 1);
    assert.equal((await used.get("/api/me")).status, 200);
    await bench.clock.advance(1);
    assert.equal((await left.get("/api/me")).status, 401);
    for (
      let passed = SESSION_IDLE_MS;
      passed < SESSION_MAX_MS - SESSION_IDLE_MS;
      passed += SESSION_IDLE_MS / 2
    ) {
      assert.equal((await used.get("/api/me")).status, 200);
      await bench.clock.advance(SESSION_IDLE_MS / 2);
    }
    assert.equal((await used.get("/api/me")).status, 200);
    await bench.clock.advance(SESSION_IDLE_MS - SESSION_TOUCH_MS);
    await used.get("/api/me");
    await bench.clock.advance(2 * SESSION_TOUCH_MS);
    assert.equal((await used.get("/api/me")).status, 401);
  }));

Deno.test("signing out and revoking a device end its session at once", () =>
  withBench(async (bench) => {
    const phone = await bench.owner();
    const laptop = await bench.owner();
    const { devices } = await (await phone.get("/api/devices")).json();
    const other = devices.find((device: { current: boolean }) => !device.current);

    assert.equal(devices.length, 2);
    assert.equal((await phone.send("DELETE", `/api/devices/${other.id}`)).status, 204);
    assert.equal((await laptop.get("/api/me")).status, 401);
    assert.equal((await phone.send("DELETE", `/api/devices/${other.id}`)).status, 404);
    const out = await phone.send("DELETE", "/api/session");
    assert.match(out.headers.get("set-cookie") ?? "", /^callboard=;/);
    assert.equal((await phone.get("/api/me")).status, 401);
  }));

Deno.test("nobody revokes another person's device", () =>
  withBench(async (bench) => {
    const viewer = await bench.person("viewer");
    const owner = await bench.owner();
    const { device } = await (await owner.get("/api/me")).json();

    assert.equal((await viewer.send("DELETE", `/api/devices/${device.id}`)).status, 404);
    assert.equal((await owner.get("/api/me")).status, 200);
  }));

Deno.test("a link for another device signs in the same person", () =>
  withBench(async (bench) => {
    const viewer = await bench.person("viewer");

    const { url } = await (await viewer.post("/api/devices/link")).json();

    const phone = await bench.clientOf(await bench.signIn(tokenOf(url)));
    assert.equal((await (await phone.get("/api/me")).json()).user.id, "viewer-approve");
  }));

Deno.test("several first starts make one owner", () =>
  withBench(async (bench) => {
    const owners = await Promise.all(Array.from({ length: 5 }, () => ensureOwner(bench.db, 1)));

    assert.equal(new Set(owners.map((owner) => owner.id)).size, 1);
    assert.equal((await bench.rows("SELECT 1 FROM users")).length, 1);
  }));

Deno.test("no table, log line or answer holds a token, a session or a CSRF token", () =>
  withBench(async (bench) => {
    const token = tokenOf(await bench.app.printedLink());
    const client = await bench.clientOf(await bench.signIn(token));
    const used = await (await bench.signIn(token)).text();
    const wrong = await (await client.send("POST", "/api/session", { token: `${OWNER_TOKEN}wrong` })).text();
    const malformed = await (await client.send("POST", "/api/session", { token: [OWNER_TOKEN] })).text();
    const dump: string[] = [used, wrong, malformed, ...bench.logged];
    for (
      const { name } of await bench.rows<{ name: string }>(
        "SELECT name FROM sqlite_master WHERE type = 'table'",
      )
    ) {
      dump.push(JSON.stringify(await bench.rows(`SELECT * FROM "${name}"`)));
    }

    const session = client.cookie.split("=")[1] ?? "missing";
    for (const secret of [token, session, client.csrf, OWNER_TOKEN]) {
      assert.ok(secret.length >= 32);
      assert.ok(!dump.some((text) => text.includes(secret)));
    }
  }));
