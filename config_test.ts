import assert from "node:assert/strict";
import { readConfig } from "./config.ts";

function read(env: Record<string, string> = {}, files: Record<string, string> = {}) {
  return readConfig({ env: (name) => env[name], readText: (path) => files[path], cwd: "/srv/app" });
}

function problems(env: Record<string, string>, files: Record<string, string> = {}): string {
  const result = read(env, files);
  assert.ok(!result.ok, "the configuration was refused");
  return result.error.message;
}

Deno.test("nothing configured gives a local inbox with the rehearsal model and no Zulip", () => {
  const result = read();

  assert.ok(result.ok);
  const { host, port, databaseUrl, model, zulip } = result.value;
  assert.deepEqual({ host, port, databaseUrl, model, zulip }, {
    host: "127.0.0.1",
    port: 8787,
    databaseUrl: "file:/srv/app/data/callboard.db",
    model: "callboard/rehearsal",
    zulip: undefined,
  });
});

Deno.test("a zuliprc file gives the account", () => {
  const result = read({ ZULIPRC: "bot.rc", ZULIP_CHANNELS: "general, ops" }, {
    "/srv/app/bot.rc": "[api]\nemail=bot@z.test\nkey=abcdefgh12345678\nsite=https://z.test\n",
  });

  assert.ok(result.ok);
  assert.deepEqual(result.value.zulip, {
    site: "https://z.test",
    email: "bot@z.test",
    apiKey: "abcdefgh12345678",
  });
  assert.deepEqual(result.value.zulipChannels, ["general", "ops"]);
});

Deno.test.each([
  [{ PUSH_TEST_ORIGIN: "https://push.example.org" }, /PUSH_TEST_ORIGIN is for tests/],
  [{ PORT: "abc" }, /PORT must be a whole number/],
  [{ OWNER_TOKEN: "short" }, /OWNER_TOKEN must have at least 32/],
  [{ ZULIP_SITE: "https://z.test" }, /ZULIP_EMAIL and ZULIP_API_KEY missing/],
  [{ ZULIP_SITE: "https://z.test", ZULIP_EMAIL: "a", ZULIP_API_KEY: "b" }, /ZULIP_CHANNELS is empty/],
  [{ ZULIP_DMS: "yes" }, /ZULIP_DMS must be true or false/],
  [{ ZULIP_ALLOWED_USER_IDS: "7,x" }, /ZULIP_ALLOWED_USER_IDS/],
  [{ LIBSQL_URL: "nonsense" }, /LIBSQL_URL is no URL/],
  [{ MODEL: "foo/bar" }, /names no provider/],
  [{ MODEL: "anthropic/claude" }, /needs ANTHROPIC_API_KEY/],
  [{ HOST: "0.0.0.0" }, /HOST would serve plain http/],
  [{ PUBLIC_URL: "http://evil.example/path" }, /PUBLIC_URL must be an https origin/],
  [{ MODEL: "gpt" }, /MODEL must be provider\/name/],
  [{ CALLBOARD_CONFIG: "missing.json" }, /CALLBOARD_CONFIG names "missing.json"/],
  [{ ZULIPRC: "missing.rc" }, /ZULIPRC names "missing.rc"/],
  [{ ZULIP_WEBHOOK_TOKEN: "t" }, /ZULIP_WEBHOOK_TOKEN needs/],
] as [Record<string, string>, RegExp][])("bad input $0 is named", (env, expected) => {
  assert.match(problems(env), expected);
});

Deno.test("a broken callboard.json is named by its line, without a piece of it", () => {
  const text = problems({}, { "/srv/app/callboard.json": '{\n  "model": SECRET42\n}' });

  assert.match(text, /callboard\.json is no JSON/);
  assert.doesNotMatch(text, /SECRET/);
});

Deno.test("a value that is wrong is named once, by the file that holds it, with what is expected", () => {
  const file = '{"zulip": {"approvers": "Ada"}, "mcpServers": [{"kind": "pipe", "name": "a"}]}';
  const named = problems({ CALLBOARD_CONFIG: "/x/bad.json" }, { "/x/bad.json": file });
  const noJson = problems({ CALLBOARD_CONFIG: "/x/bad.json" }, { "/x/bad.json": "{" });
  const account = { ZULIP_SITE: "chat", ZULIP_EMAIL: "a", ZULIP_API_KEY: "b", ZULIP_DMS: "true" };

  assert.match(named, /^- \/x\/bad\.json: zulip\.approvers: must be "\*" or a list of Zulip user ids$/m);
  assert.match(named, /kind: .*'stdio' \| 'http'/);
  assert.match(noJson, /^- \/x\/bad\.json is no JSON/);
  assert.doesNotMatch(named + noJson, /callboard\.json|Invalid input/);
  assert.equal(problems(account), "- ZULIP_SITE is no URL");
});

Deno.test("every problem is named at once and no secret is shown", () => {
  const text = problems({ OWNER_TOKEN: "s3cret", PORT: "-1", ZULIP_API_KEY: "zulipsecret" }, {
    "/srv/app/callboard.json": `{"modle": "x/y"}`,
  });

  assert.equal(text.split("\n").length, 4);
  assert.match(text, /modle/);
  assert.doesNotMatch(text, /s3cret|zulipsecret/);
});
