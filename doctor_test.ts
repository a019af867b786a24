import assert from "node:assert/strict";
import { checkDataFolder, checkDeno } from "./composition/doctor/machine.ts";
import { examine, lineOf } from "./doctor.ts";
import { acquireLease, SUPERVISOR_LEASE } from "./store/lease.ts";
import { bootstrap } from "./store/migrate.ts";
import { openDb } from "./store/open.ts";
import { FakeModel } from "./tests/doubles/fake_model/fake_model.ts";
import { FakeZulip } from "./tests/doubles/fake_zulip/mod.ts";

const SECRETS = {
  OWNER_TOKEN: "owner-secret-0123456789-0123456789",
  ANTHROPIC_API_KEY: "model-secret-0123456789",
};

interface Set {
  readonly folder: string;
  readonly zulip: FakeZulip;
  readonly env: Record<string, string>;
}

/** A machine where everything is well, for `test` to break. */
async function withSet(test: (set: Set) => Promise<void>): Promise<void> {
  const zulip = new FakeZulip();
  const server = await zulip.start();
  const model = FakeModel.start();
  const folder = await Deno.makeTempDir({ prefix: "callboard-doctor-test-" });
  const env = {
    ...SECRETS,
    CALLBOARD_DATA: folder,
    PORT: "0",
    ZULIP_SITE: server.url,
    ZULIP_EMAIL: zulip.bot.email,
    ZULIP_API_KEY: zulip.bot.apiKey,
    ZULIP_CHANNELS: "general",
    MODEL: "anthropic/claude-test",
    ANTHROPIC_BASE_URL: model.url,
  };
  try {
    await test({ folder, zulip, env });
  } finally {
    await server.stop();
    await model.close();
    await Deno.remove(folder, { recursive: true });
  }
}

async function lines(env: Record<string, string>, now?: () => number): Promise<string[]> {
  return (await examine({ env: (name) => env[name], readText: () => undefined, cwd: "/" }, now)).map(lineOf);
}

/** The line about a subject. */
function about(all: readonly string[], subject: string): string {
  return all.find((line) => line.slice(6).startsWith(subject)) ??
    `nothing about ${subject} in:\n${all.join("\n")}`;
}

Deno.test("the doctor finds nothing bad where everything is well, and says what it saw", () =>
  withSet(async ({ env }) => {
    const all = await lines(env);

    assert.deepEqual(all.filter((line) => line.startsWith("BAD")), []);
    assert.match(about(all, "Data folder"), /^ok .*MB free/);
    assert.match(about(all, "Database"), /^ok .*will be made/);
    assert.match(about(all, "Zulip"), /^ok .*Callboard on http/);
    assert.match(about(all, "Clock"), /^ok .*within \d+ s/);
    assert.match(about(all, "Model"), /^ok .*answers/);
  }));

Deno.test("the doctor names a wrong Zulip key, a clock that is off, a model that is away and a port in use, and no secret", () =>
  withSet(async ({ env }) => {
    const other = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    const taken = String(other.addr.port);
    const key = "wrong-secret-0123456789";

    const all = await lines(
      { ...env, ZULIP_API_KEY: key, PORT: taken, ANTHROPIC_BASE_URL: "http://127.0.0.1:1" },
      () => Date.now() + 600_000,
    );
    other.close();

    assert.match(about(all, "Zulip"), /^BAD .*does not accept this account/);
    assert.match(about(all, "Clock"), /^note .*60\d s ahead of/);
    assert.match(about(all, "Model"), /^BAD .*cannot be reached/);
    assert.match(about(all, "Port"), /^BAD .*in use by another program/);
    for (const secret of [key, ...Object.values(SECRETS)]) assert.ok(!all.join("\n").includes(secret));
  }));

Deno.test("the doctor tells an unreachable Zulip from one that is none", () =>
  withSet(async ({ env }) => {
    const away = await lines({ ...env, ZULIP_SITE: "http://127.0.0.1:1" });
    const none = await lines({ ...env, ZULIP_SITE: env["ANTHROPIC_BASE_URL"] ?? "" });

    assert.match(about(away, "Zulip"), /^BAD .*cannot be reached/);
    assert.match(about(none, "Zulip"), /^BAD /);
  }));

Deno.test("the doctor sees the schema and who holds the lease, and leaves the database as it is", () =>
  withSet(async ({ env, folder }) => {
    const db = await openDb({ url: `file:${folder}/callboard.db` });
    await bootstrap(db);
    const before = about(await lines(env), "Database");
    await acquireLease(db, { name: SUPERVISOR_LEASE, holder: "host 7", ttlMs: 60_000 });
    const after = about(await lines(env), "Database");
    await db.close();

    assert.match(before, /^ok .*schema 1.*no supervisor is at work/);
    assert.match(after, /^ok .*held by a running supervisor \(host 7\)/);
  }));

Deno.test("the doctor stops at a configuration that cannot be read, and names each problem", async () => {
  const all = await lines({ PORT: "none", OWNER_TOKEN: "short" });

  assert.match(about(all, "Configuration"), /^BAD [^]*PORT[^]*OWNER_TOKEN/);
  assert.equal(all.length, 2);
});

Deno.test("an old Deno, a full disk and a folder that cannot be written are bad", async () => {
  const folder = await Deno.makeTempDir();

  const full = await checkDataFolder(folder, () => Promise.resolve(1e6));
  const absent = await checkDataFolder(`${folder}/a/b`, () => Promise.resolve(1e9));
  const closed = await checkDataFolder("/proc/callboard", () => Promise.resolve(1e9));
  await Deno.remove(folder);

  assert.deepEqual(
    [checkDeno("2.8.4"), checkDeno("2.9.6"), checkDeno("3.0.0"), full, absent, closed].map(({ level }) =>
      level
    ),
    ["bad", "ok", "bad", "bad", "ok", "bad"],
  );
});
