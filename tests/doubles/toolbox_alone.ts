/**
 * A toolbox in a process of its own, with the permissions that it is given on the command line and nothing else: a program, not a module.
 * The first argument is the configuration; each further one is a call as JSON. Prints what the toolbox sends, a line each.
 */
import { createToolbox } from "../../actors/toolbox/gateway.ts";
import { systemClock } from "../../lib/clock.ts";
import type { Committed, Effects, GatewayContext } from "../../runtime/actor.ts";

const [config = "{}", ...calls] = Deno.args;
const stop = new AbortController();
const row: { state: string; digest: string; described: string | null } = {
  state: "proposed",
  digest: "",
  described: null,
};
const offered = Promise.withResolvers<void>();

function commit({ ops = [], send = [] }: Effects): Promise<Committed> {
  for (const op of ops) {
    if ("to" in op) row.state = String(op.to);
    if ("digest" in op) row.digest = String(op.digest);
  }
  for (const message of send) {
    console.log(JSON.stringify(message));
    if (JSON.stringify(message).includes("mcp__everything__echo")) offered.resolve();
  }
  return Promise.resolve({ ok: true });
}

let current = { tool: "", arguments: "" };
const context: GatewayContext = {
  ref: "toolbox",
  config: JSON.parse(config),
  now: Date.now,
  newId: () => crypto.randomUUID(),
  commit,
  emit: () => {},
  read: () =>
    Promise.resolve({
      ...row,
      callId: "call",
      conversation: "c1",
      turnId: "turn",
      ...current,
      triggeredBy: "person",
      profile: null,
      source: null,
      channelId: null,
    }),
  mayAct: () => true,
  signal: stop.signal,
  log: (_level, text) => console.error(text),
};

const toolbox = createToolbox({ clock: systemClock, random: Math.random });
await toolbox.start(context);
if (config.includes(`"kind":"stdio"`)) await offered.promise;
for (const call of calls) {
  const { tool, args } = JSON.parse(call);
  current = { tool, arguments: JSON.stringify(args) };
  row.state = "proposed";
  await deliver("tool.propose", "conversation/c1", { callId: "call", turnId: "turn", ...current });
  row.state = "judged";
  const grant = { by: "rule", ref: "r", digest: row.digest };
  await deliver("tool.run", "approval", { callId: "call", conversation: "c1", grant });
}
stop.abort();
await toolbox.stop?.();

async function deliver(type: string, from: string, payload: unknown): Promise<void> {
  const message = {
    id: "m",
    v: 1,
    to: "toolbox",
    from,
    type,
    payload,
    lane: "normal",
    durable: true,
    at: 0,
  } as const;
  const started = (_: unknown, effects?: Effects) => commit(effects ?? {});
  const effects = await toolbox.handle({
    message,
    resumed: false,
    intent: null,
    signal: stop.signal,
    started,
  });
  await commit(effects ?? {});
}
