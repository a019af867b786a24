/**
 * The fake Zulip as a process of its own: `deno run --allow-net=127.0.0.1 tests/doubles/fake_zulip/main.ts [port]`.
 *
 * Prints one line of JSON with the address and the bot's credentials, then serves until it is told to stop (SIGTERM, SIGINT) or its stdin ends where
 * `--until-stdin-ends` is given. Sends heartbeats as a real server does.
 */
import { FakeZulip } from "./mod.ts";

const HEARTBEAT_MS = 45_000;

const fake = new FakeZulip();
const server = await fake.start(Number(Deno.args.find((arg) => /^\d+$/.test(arg)) ?? 0));
console.log(JSON.stringify({
  url: server.url,
  page: `${server.url}/_page`,
  email: fake.bot.email,
  apiKey: fake.bot.apiKey,
  channels: [fake.general.name, fake.ops.name],
}));

const heartbeat = setInterval(() => fake.heartbeat(), HEARTBEAT_MS);
const stopped = Promise.withResolvers<void>();
const signals = ["SIGINT", "SIGTERM"] as const;
for (const signal of signals) Deno.addSignalListener(signal, stopped.resolve);
if (Deno.args.includes("--until-stdin-ends")) {
  void Deno.stdin.readable.pipeTo(new WritableStream()).then(stopped.resolve, stopped.resolve);
}
await stopped.promise;
for (const signal of signals) Deno.removeSignalListener(signal, stopped.resolve);
clearInterval(heartbeat);
await server.stop();
Deno.exit(0);
