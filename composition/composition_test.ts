import assert from "node:assert/strict";
import type { Send } from "../runtime/actor.ts";
import { type Config, readConfig } from "../config.ts";
import { actorKinds, zulipApprovers } from "./kinds.ts";
import { CATALOG } from "../actors/models/pi/model_catalog.ts";
import { ModelsConfig } from "../actors/models/config.ts";
import { refusalOf } from "../actors/zulip/model_choice.ts";
import { providersOf } from "./providers.ts";
import { tellNote } from "./notes.ts";
import { makeVapidKey } from "./push_key.ts";
import { secretsOf, withoutSecrets } from "./secrets.ts";
import { vocabularyFor } from "./vocabulary.ts";

function configOf(env: Record<string, string> = {}, file?: unknown) {
  const readText = () => file === undefined ? undefined : JSON.stringify(file);
  const result = readConfig({ env: (name) => env[name], readText, cwd: "/srv/app" });
  assert.ok(result.ok);
  return result.value;
}

const withZulip = {
  ZULIP_SITE: "https://chat.example.org",
  ZULIP_EMAIL: "bot@example.org",
  ZULIP_API_KEY: "0123456789abcdef",
  ZULIP_CHANNELS: "general",
};

Deno.test("each gateway may reach exactly what its configuration names, and reads no environment", () => {
  const kinds = actorKinds(
    configOf({ ...withZulip, ANTHROPIC_API_KEY: "key-0123456789" }),
    "http://localhost:8787",
  );
  const flags = Object.fromEntries(
    kinds.flatMap((kind) => kind.mode === "gateway" ? [[kind.kind, kind.flags]] : []),
  );

  assert.deepEqual(flags["zulip"], ["--allow-net=chat.example.org:443", "--ignore-env"]);
  assert.ok(flags["models"]?.some((flag) => flag.startsWith("--allow-net=api.anthropic.com")));
  assert.ok(flags["toolbox"]?.every((flag) => !/--allow-(all|net|env|ffi)\b/.test(flag)));
});

Deno.test("the push gateway may reach the browsers' push services alone, has the key alone, and runs on demand", async () => {
  const vapidKey = await makeVapidKey();
  const kindsOf = (env: Record<string, string>) =>
    actorKinds(configOf(env), "http://localhost:8787", { vapidKey });
  const push = (env: Record<string, string> = {}) => {
    const kind = kindsOf(env).find((each) => each.kind === "push");
    assert.ok(kind?.mode === "gateway");
    return kind;
  };
  const services =
    "fcm.googleapis.com:443,updates.push.services.mozilla.com:443,*.push.apple.com:443,*.notify.windows.com:443";

  assert.deepEqual(push().flags, [`--allow-net=${services}`, "--ignore-env"]);
  assert.deepEqual(
    push({ PUSH_TEST_ORIGIN: "http://127.0.0.1:4000" }).flags[0],
    `--allow-net=${services},127.0.0.1:4000`,
  );
  assert.equal(push().start, "demand");
  for (const kind of kindsOf({})) {
    const given = JSON.stringify(kind.mode === "gateway" ? kind.config?.() : kind) ?? "";
    assert.equal(given.includes(vapidKey.d), kind.kind === "push", kind.kind);
  }
});

Deno.test("models and toolbox run on demand; with MCP servers, whose tools only they know, the toolbox always runs", () => {
  const startsOf = (config: Config, knowsTools: boolean) =>
    Object.fromEntries(
      actorKinds(config, "http://localhost:8787", { knowsTools }).flatMap((kind) =>
        kind.mode === "gateway" ? [[kind.kind, `${kind.start ?? "boot"} ${kind.introduce ?? "-"}`]] : []
      ),
    );
  const mcpServers = [{ kind: "http", name: "tickets", url: "https://mcp.example.org" }];

  assert.deepEqual(startsOf(configOf(withZulip), true), {
    toolbox: "demand soon",
    models: "demand -",
    zulip: "boot -",
  });
  assert.equal(startsOf(configOf(), false)["toolbox"], "demand now");
  assert.equal(startsOf(configOf({}, { mcpServers }), true)["toolbox"], "boot -");
});

Deno.test("no secret is in a pure actor's specification", () => {
  const kinds = actorKinds(
    configOf({ ...withZulip, ANTHROPIC_API_KEY: "key-0123456789" }),
    "http://localhost:8787",
  );

  assert.doesNotMatch(JSON.stringify(kinds.filter(({ mode }) => mode === "pure")), /0123456789/);
});

Deno.test("what is given to MCP servers as a secret is a secret of the log too", () => {
  const config = configOf({}, {
    mcpServers: [
      {
        kind: "http",
        name: "tickets",
        url: "https://mcp.example.org",
        headers: { authorization: "Bearer tickets-secret" },
      },
      {
        kind: "stdio",
        name: "notes",
        command: "/bin/notes",
        env: { NOTES_TOKEN: "notes-secret", LANG: "C.UTF-8" },
      },
    ],
  });

  const cleaned = withoutSecrets(
    "Bearer tickets-secret, tickets-secret, notes-secret, C.UTF-8",
    secretsOf(config),
  );

  assert.equal(cleaned, "[secret], [secret], [secret], C.UTF-8");
});

Deno.test("a bot that obeys everybody lets nobody decide by a reaction unless told so", () => {
  assert.deepEqual(zulipApprovers(configOf(withZulip)), []);
  assert.deepEqual(zulipApprovers(configOf({ ...withZulip, ZULIP_ALLOWED_USER_IDS: "7" })), [7]);
  const everyone = { zulip: { approvers: "*" } };
  assert.equal(zulipApprovers(configOf(withZulip, everyone)), "*");
  assert.deepEqual(
    zulipApprovers(configOf({ ...withZulip, ZULIP_ALLOWED_USER_IDS: "7" }, everyone)),
    [7],
    "all whom the bot obeys, and nobody else",
  );
});

Deno.test("without Zulip what goes to topics is dropped, not buried", () => {
  const kinds = actorKinds(configOf(), "http://localhost:8787").map(({ kind }) => kind);
  const vocabulary = vocabularyFor(kinds);

  assert.deepEqual(["zulip", "approval", "conversation/1", "edge"].map((ref) => vocabulary.isAbsent?.(ref)), [
    true,
    false,
    false,
    false,
  ]);
});

Deno.test("a parked conversation is told in its topic once, and in the inbox", () => {
  const sent: Send[] = [];
  const outlets = { log: () => {}, send: (send: Send) => void sent.push(send), zulip: true };

  tellNote({ type: "parked", ref: "conversation/1", reason: "5 crashes" }, outlets);
  tellNote({ type: "parked", ref: "scheduler", reason: "5 crashes" }, outlets);

  assert.deepEqual(sent.map(({ to, type }) => `${to} ${type}`), [
    "approval restart.wanted",
    "zulip topic.note",
  ]);
  assert.ok(sent[1]?.dedupe);
});

Deno.test("the models of a provider with its key can be chosen, known ones only; behind a base URL any", () => {
  const [known = ""] = CATALOG.anthropic.keys();
  const withKey = providersOf(ModelsConfig.parse({ anthropic: { apiKey: "k" } }));
  const behindUrl = providersOf(ModelsConfig.parse({ openai: { baseUrl: "http://localhost:1" } }));
  const refused = (model: string, providers = withKey) => refusalOf(model, providers) !== undefined;

  assert.deepEqual(
    [`anthropic/${known}`, `anthropic/${known}x`, "openai/gpt-5", "ollama/any", "callboard/rehearsal"].map((
      model,
    ) => refused(model)),
    [false, true, true, false, false],
  );
  assert.deepEqual([refused("openai/mine", behindUrl), refused(`anthropic/${known}`, behindUrl)], [
    false,
    true,
  ]);
});
