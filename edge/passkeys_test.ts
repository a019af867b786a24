/** Proves passkeys: what makes one, what signs in by one, what confirms by one, and every answer that must not. */
import assert from "node:assert/strict";
import {
  type Bench,
  type BenchOptions,
  Client,
  OWNER_TOKEN,
  withBench,
} from "../tests/doubles/edge_bench.ts";
import { type Lies, SoftwareAuthenticator } from "../tests/doubles/software_authenticator.ts";
import { CHALLENGE_MS } from "../store/edge/webauthn_challenges.ts";
import { FRESH_MS } from "./fresh.ts";

const ORIGIN = "http://localhost";
const atHome: BenchOptions = { config: { publicUrl: ORIGIN } };
/** No `OWNER_TOKEN`: a passkey is then the only proof that can be given anywhere. */
const withoutToken: BenchOptions = { config: { publicUrl: ORIGIN, ownerToken: undefined } };

/** Makes a passkey for who is signed in. */
async function register(client: Client, name = "Phone"): Promise<SoftwareAuthenticator> {
  const device = await SoftwareAuthenticator.create(ORIGIN);
  const options = await (await client.post("/api/passkeys/options")).json();
  const made = await client.post("/api/passkeys", { name, response: await device.register(options) });
  assert.equal(made.status, 201, await made.clone().text());
  return device;
}

function stranger(bench: Bench): Client {
  return new Client(bench, "", "");
}

async function signInWith(bench: Bench, device: SoftwareAuthenticator, lies?: Lies): Promise<Response> {
  const client = stranger(bench);
  const options = await (await client.post("/api/session/passkey/options")).json();
  return await client.post("/api/session/passkey", { response: await device.prove(options, lies) });
}

async function confirmWith(client: Client, device: SoftwareAuthenticator, lies?: Lies): Promise<number> {
  const options = await (await client.post("/api/session/confirm/passkey/options")).json();
  const response = await device.prove(options, lies);
  return (await client.post("/api/session/confirm/passkey", { response })).status;
}

/** The owner by a link's token, as where no `OWNER_TOKEN` is set. */
async function ownerByLink(bench: Bench): Promise<Client> {
  const link = await bench.app.printedLink();
  return await bench.clientOf(await bench.signIn(new URL(link).hash.replace("#token=", "")));
}

Deno.test("a passkey is made by a signed-in person and signs in without a name, into a session of its own", () =>
  withBench(async (bench) => {
    const owner = await bench.owner();
    assert.equal((await (await owner.get("/api/me")).json()).passkey, false);

    const device = await register(owner);
    const signedIn = await signInWith(bench, device);

    assert.equal(signedIn.status, 201, await signedIn.clone().text());
    const client = await bench.clientOf(signedIn);
    const me = await (await client.get("/api/me")).json();
    assert.deepEqual([me.user.id, me.passkey], ["owner", true]);
    assert.notEqual(client.cookie, owner.cookie);
    const [row] = await bench.rows(
      "SELECT counter, multi_device, backed_up, used_at, transports FROM passkeys",
    );
    assert.deepEqual(row, {
      counter: 1,
      multi_device: 1,
      backed_up: 1,
      used_at: bench.clock.now(),
      transports: '["internal"]',
    });
  }, atHome));

Deno.test("a browser is asked for a discoverable key, a verified person, and none that is there already", () =>
  withBench(async (bench) => {
    const owner = await bench.owner();
    const { id } = await register(owner);

    const made = await (await owner.post("/api/passkeys/options")).json();
    const signIn = await (await stranger(bench).post("/api/session/passkey/options")).json();
    const confirm = await (await owner.post("/api/session/confirm/passkey/options")).json();

    assert.equal(made.rp.id, "localhost");
    assert.equal(made.attestation, "none");
    assert.equal(made.authenticatorSelection.residentKey, "required");
    assert.equal(made.authenticatorSelection.userVerification, "required");
    assert.deepEqual(made.excludeCredentials.map((known: { id: string }) => known.id), [id]);
    assert.deepEqual([signIn.userVerification, signIn.allowCredentials], ["required", []]);
    assert.deepEqual(confirm.allowCredentials.map((known: { id: string }) => known.id), [id]);
    assert.ok(!JSON.stringify(made.user.id).includes("owner"));
  }, atHome));

const refusedAnswers: readonly (readonly [what: string, lies: Lies])[] = [
  ["another origin", { origin: "http://localhost:9999" }],
  ["another site", { origin: "https://evil.example" }],
  ["another name", { rpId: "evil.example" }],
  ["nobody verified", { isVerified: false }],
  ["another ceremony", { type: "webauthn.other" }],
];

for (const [what, lies] of refusedAnswers) {
  Deno.test(`a passkey is neither made nor believed: ${what}`, () =>
    withBench(async (bench) => {
      const owner = await bench.owner();
      const liar = await SoftwareAuthenticator.create(ORIGIN);
      const options = await (await owner.post("/api/passkeys/options")).json();
      const response = await liar.register(options, lies);
      assert.equal((await owner.post("/api/passkeys", { name: "Liar", response })).status, 400);
      assert.equal((await bench.rows("SELECT 1 FROM passkeys")).length, 0);

      const device = await register(owner);
      const sessions = (await bench.rows("SELECT 1 FROM sessions")).length;
      assert.equal((await signInWith(bench, device, lies)).status, 401);
      assert.equal(await confirmWith(owner, device, lies), 403);

      assert.equal((await bench.rows("SELECT 1 FROM sessions")).length, sessions);
      assert.deepEqual(await bench.rows("SELECT counter, used_at FROM passkeys"), [
        { counter: 0, used_at: null },
      ]);
    }, atHome));
}

Deno.test("a challenge is answered once, in time, for its purpose and by its person", () =>
  withBench(async (bench) => {
    const owner = await bench.owner();
    const approver = await bench.person("approver");
    const device = await register(owner);
    const someone = stranger(bench);
    const ask = async () => await (await someone.post("/api/session/passkey/options")).json();
    const answer = async (response: unknown) =>
      (await someone.post("/api/session/passkey", { response })).status;

    const right = await device.prove(await ask());
    assert.equal(await answer(right), 201);
    assert.equal(await answer(right), 401, "the same answer again");

    const options = await ask();
    assert.equal(await answer(await device.prove(options, { isVerified: false })), 401);
    assert.equal(await answer(await device.prove(options)), 401, "a wrong answer has used it up");

    const late = await ask();
    await bench.clock.advance(CHALLENGE_MS);
    assert.equal(await answer(await device.prove(late)), 401, "too late");

    assert.equal(await answer(await device.prove({ challenge: "bWFkZS11cA", rpId: "localhost" })), 401);
    const forConfirming = await (await owner.post("/api/session/confirm/passkey/options")).json();
    assert.equal(await answer(await device.prove(forConfirming)), 401, "for another purpose");
    const ownersOptions = await (await owner.post("/api/passkeys/options")).json();
    const fresh = await SoftwareAuthenticator.create(ORIGIN);
    const response = await fresh.register(ownersOptions);
    assert.equal((await approver.post("/api/passkeys", { name: "N", response })).status, 400, "another's");
  }, atHome));

Deno.test("two answers that come at once make one session", () =>
  withBench(async (bench) => {
    const device = await register(await bench.owner());
    const before = (await bench.rows("SELECT 1 FROM sessions")).length;
    const someone = stranger(bench);
    const options = await (await someone.post("/api/session/passkey/options")).json();
    const response = await device.prove(options);

    const race = await Promise.all([1, 2, 3].map(() => someone.post("/api/session/passkey", { response })));

    assert.deepEqual(race.map(({ status }) => status).sort(), [201, 401, 401]);
    assert.equal((await bench.rows("SELECT 1 FROM sessions")).length, before + 1);
  }, atHome));

Deno.test("a copy of a key whose counter went back opens nothing", () =>
  withBench(async (bench) => {
    const owner = await bench.owner();
    const device = await register(owner);
    assert.equal((await signInWith(bench, device, { counter: 7 })).status, 201);

    assert.equal((await signInWith(bench, device, { counter: 7 })).status, 401);
    assert.equal(await confirmWith(owner, device, { counter: 3 }), 403);
    assert.equal((await signInWith(bench, device, { counter: 8 })).status, 201);
  }, atHome));

Deno.test("another person's passkey confirms nothing, and no answer speaks for somebody else", () =>
  withBench(async (bench) => {
    const owner = await bench.owner();
    const approver = await bench.person("approver");
    const owners = await register(owner);
    const approvers = await register(approver);
    await bench.run("DELETE FROM rate_limits");

    assert.equal(await confirmWith(owner, approvers), 403);
    assert.equal(await confirmWith(owner, approvers, { credentialId: owners.id }), 403, "the key is another");
    assert.equal((await signInWith(bench, owners, { userHandle: null })).status, 401);
    const theirs = approvers.prove({ challenge: "x", rpId: "localhost" });
    const { userHandle } = (await theirs).response;
    assert.equal((await signInWith(bench, owners, { userHandle })).status, 401);
    assert.equal((await owner.send("DELETE", `/api/passkeys/${approvers.id}`)).status, 404);
    assert.equal((await owner.send("PATCH", `/api/passkeys/${approvers.id}`, { name: "Mine" })).status, 404);
    assert.equal((await bench.rows("SELECT 1 FROM passkeys WHERE name = 'Phone'")).length, 2);
  }, atHome));

Deno.test("a passkey is asked for and confirms where no owner token is set", () =>
  withBench(async (bench) => {
    const owner = await ownerByLink(bench);
    const mayLink = async () => (await owner.post("/api/devices/link", {})).status;
    await bench.clock.advance(FRESH_MS);
    assert.equal(await mayLink(), 201, "nothing could be asked for");
    await bench.run("UPDATE sessions SET authenticated_at = ?", bench.clock.now());
    const device = await register(owner);

    await bench.clock.advance(FRESH_MS);
    const rule = { action: "allow", toolPattern: "*" };
    for (
      const [method, path, body] of [
        ["POST", "/api/rules", rule],
        ["PUT", "/api/gate", {}],
        ["POST", "/api/users", { name: "Ada", role: "owner" }],
        ["POST", "/api/passkeys/options", {}],
        ["DELETE", `/api/passkeys/${device.id}`, undefined],
      ] as const
    ) {
      const answer = await owner.send(method, path, body);
      assert.equal((await answer.json()).error.code, "reauthenticate", path);
    }
    assert.equal(await confirmWith(owner, device), 204);
    assert.equal(await mayLink(), 201);
  }, withoutToken));

Deno.test("a call of high risk is allowed by a recent proof of who has a passkey, and rejected at once", () =>
  withBench(async (bench) => {
    await bench.conversation("c1");
    for (const id of ["i1", "i2", "i3"]) await bench.item(id, "c1");
    await bench.run("UPDATE pending_items SET risk = 'high' WHERE id <> 'i3'");
    const owner = await bench.owner();
    const device = await register(owner);
    await bench.clock.advance(FRESH_MS);
    const decide = async (id: string, decision: string) =>
      (await owner.post(`/api/inbox/${id}/decision`, { version: 1, decision })).status;

    assert.equal(await decide("i1", "allow_once"), 403);
    assert.equal(await decide("i2", "reject_once"), 200);
    assert.equal(await decide("i3", "allow_once"), 200);
    assert.equal(await confirmWith(owner, device), 204);
    assert.equal(await decide("i1", "allow_once"), 200);
  }, atHome));

Deno.test("a session alone makes no passkey, even where nothing else asks for a recent sign-in", () =>
  withBench(async (bench) => {
    const owner = await ownerByLink(bench);
    const device = await SoftwareAuthenticator.create(ORIGIN);
    const options = await (await owner.post("/api/passkeys/options")).json();
    await bench.clock.advance(FRESH_MS);

    assert.equal((await owner.post("/api/passkeys/options")).status, 403);
    const response = await device.register(options);
    const late = await owner.post("/api/passkeys", { name: "Thief", response });

    assert.equal((await late.json()).error.code, "reauthenticate");
  }, withoutToken));

Deno.test("a passkey is renamed and removed by its person, the last way in only with a second word", () =>
  withBench(async (bench) => {
    const owner = await ownerByLink(bench);
    const first = await register(owner, "Phone");
    const second = await register(owner, "Laptop");
    const list = async () => await (await owner.get("/api/passkeys")).json();
    const remove = async (id: string, query = "") =>
      (await owner.send("DELETE", `/api/passkeys/${id}${query}`)).status;

    assert.equal((await owner.send("PATCH", `/api/passkeys/${first.id}`, { name: "Old phone" })).status, 204);
    const { passkeys, lastWayIn } = await list();
    assert.deepEqual(passkeys.map(({ name }: { name: string }) => name).sort(), ["Laptop", "Old phone"]);
    assert.equal(lastWayIn, true);

    assert.equal(await remove(first.id), 204);
    assert.equal((await signInWith(bench, first)).status, 401);
    assert.equal(await remove(second.id), 409);
    assert.equal(await remove(second.id, "?last=accepted"), 204);
    assert.deepEqual((await list()).passkeys, []);
  }, withoutToken));

Deno.test("who has the owner token may lose every passkey", () =>
  withBench(async (bench) => {
    const owner = await bench.owner();
    const { id } = await register(owner);

    assert.equal((await (await owner.get("/api/passkeys")).json()).lastWayIn, false);
    assert.equal((await owner.send("DELETE", `/api/passkeys/${id}`)).status, 204);
  }, atHome));

Deno.test("a key that is known already is not taken again, whoever brings it", () =>
  withBench(async (bench) => {
    const device = await register(await bench.owner());
    const approver = await bench.person("approver");
    const options = await (await approver.post("/api/passkeys/options")).json();

    const again = await approver.post("/api/passkeys", {
      name: "Mine",
      response: await device.register(options),
    });

    assert.equal(again.status, 409);
    assert.deepEqual(await bench.rows("SELECT user_id FROM passkeys"), [{ user_id: "owner" }]);
  }, atHome));

Deno.test("a person who is removed has no passkey left", () =>
  withBench(async (bench) => {
    const owner = await bench.owner();
    const device = await register(await bench.person("approver"));

    assert.equal((await owner.send("DELETE", "/api/users/approver-approve")).status, 204);

    assert.equal((await signInWith(bench, device)).status, 401);
  }, atHome));

Deno.test("asking for and answering challenges is limited like guessing at a sign-in", () =>
  withBench(async (bench) => {
    const device = await SoftwareAuthenticator.create(ORIGIN);
    const statuses: number[] = [];
    for (let attempt = 0; attempt < 7; attempt += 1) {
      const response = await device.prove({ challenge: "bWFkZS11cA", rpId: "localhost" }, {
        userHandle: null,
      });
      statuses.push((await stranger(bench).post("/api/session/passkey", { response })).status);
      statuses.push((await stranger(bench).post("/api/session/passkey/options")).status);
    }

    assert.deepEqual(statuses.slice(0, 2), [401, 200]);
    assert.deepEqual(statuses.slice(-2), [429, 429]);
    const signIn = await bench.signIn(OWNER_TOKEN);
    assert.equal(signIn.status, 429, "one bucket for every way in");
  }, atHome));

const addresses:
  readonly (readonly [config: BenchOptions["config"], host: string, why: RegExp | undefined])[] = [
    [{}, "localhost:8787", undefined],
    [{}, "127.0.0.1:8787", /IP address; open http:\/\/localhost:8787/],
    [{}, "[::1]:8787", /IP address/],
    [{}, "localhost:9999", /another one; open http:\/\/localhost:8787/],
    [{ port: 0 }, "localhost:8787", /needs a PUBLIC_URL/],
    [{ publicUrl: "https://board.example.org" }, "board.example.org", undefined],
    [{ publicUrl: "https://board.example.org" }, "localhost:8787", /open https:\/\/board.example.org/],
    [{ publicUrl: "https://192.0.2.7" }, "192.0.2.7", /IP address; the server needs a PUBLIC_URL/],
  ];

Deno.test("passkeys are offered at one named address, and elsewhere it is said why not", async () => {
  for (const [config = {}, host, why] of addresses) {
    await withBench(async (bench) => {
      const offer = await (await bench.app.request("/api/passkeys/offer", { headers: { host } })).json();
      const answer = await bench.app.request("/api/session/passkey/options", {
        method: "POST",
        headers: { host },
      });

      assert.equal(offer.offered, why === undefined, host);
      if (why !== undefined) assert.match(offer.why, why);
      assert.equal(answer.status, why === undefined ? 200 : 409, host);
      const { rpId } = await answer.json();
      if (why === undefined) assert.equal(rpId, host.split(":")[0]);
    }, { config });
  }
});
