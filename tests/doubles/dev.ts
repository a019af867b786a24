/**
 * The product against both doubles, for trying it by hand (`deno task dev`): a fake Zulip with a page to type in as one of its users, a fake model
 * that echoes and calls tools on request, and the real supervisor on `./data/dev`. Ends with Ctrl-C.
 */
import { FakeModel } from "./fake_model/fake_model.ts";
import { FakeZulip } from "./fake_zulip/mod.ts";
import { startSupervisor } from "../supervisor_process.ts";

const zulip = new FakeZulip();
const server = await zulip.start();
const model = FakeModel.start();
// The fake realm begins anew each time, so what an earlier one left would name messages that are not there.
await Deno.remove("data/dev", { recursive: true }).catch(() => undefined);
await Deno.mkdir("data/dev", { recursive: true });
await Deno.writeTextFile(
  "data/dev/callboard.json",
  JSON.stringify({
    zulip: { editIntervalMs: 300, editsPerMinute: 2_000, settleAfterMs: 3_000, approvers: "*" },
  }),
);
const supervisor = await startSupervisor({
  PORT: Deno.env.get("PORT") ?? "8787",
  CALLBOARD_DATA: "data/dev",
  CALLBOARD_CONFIG: "data/dev/callboard.json",
  ZULIP_SITE: server.url,
  ZULIP_EMAIL: zulip.bot.email,
  ZULIP_API_KEY: zulip.bot.apiKey,
  ZULIP_CHANNELS: "*",
  ZULIP_DMS: "true",
  MODEL: Deno.env.get("MODEL") ?? "anthropic/fake",
  ANTHROPIC_API_KEY: "no-real-key-is-needed",
  ANTHROPIC_BASE_URL: model.url,
}, { echo: true });

console.log(`  Fake Zulip, to type in:  ${server.url}/_page`);
console.log("  Mention the bot (`@**Callboard** …`) in channel general.");
console.log(
  '  In such a message a line `tool:exec_command {"command":"date"}` makes the fake model call that tool;',
);
console.log("  once the topic has a conversation, a message there needs no mention.");
console.log("  MODEL=callboard/rehearsal uses the scripted model instead.\n");

Deno.addSignalListener("SIGINT", () => {});
Deno.addSignalListener("SIGTERM", () => void supervisor.stop("SIGTERM"));
await supervisor.status;
await server.stop();
await model.close();
