/** A gateway for the runtime's tests: records in the database what it did, and dies on request between its two commits. */
import type { Delivery, Effects, GatewayContext } from "../../../runtime/actor.ts";
import { runGateway } from "../../../runtime/gateway_host.ts";

interface Payload {
  readonly key: string;
  readonly n: number;
  readonly die?: "between" | "always";
  readonly waitFor?: string;
}

let context: GatewayContext;
const released = new Map<string, PromiseWithResolvers<void>>();

await runGateway({
  start(given) {
    context = given;
    console.log("a gateway prints");
    return Promise.resolve();
  },
  keyOf: (message) => (message.payload as Payload).key, // the tests' own messages
  async handle(delivery: Delivery): Promise<Effects | void> {
    const { message, resumed, intent } = delivery;
    const payload = message.payload as Payload; // as above
    if (message.type === "test.release") return release(payload.key).resolve();
    if (message.type === "test.read") {
      const value = await context.read("double", { n: payload.n });
      return { send: [{ to: "edge", type: "test.answer", payload: { value, config: context.config } }] };
    }
    if (payload.die === "always") throw new Error("always dies");
    const started = await delivery.started({ n: payload.n, at: "started" });
    if (!started.ok) return;
    if (payload.die === "between" && !resumed) Deno.exit(9);
    if (payload.waitFor) await release(payload.waitFor).promise;
    const fact = { key: payload.key, n: payload.n, resumed, intent, mayAct: context.mayAct() };
    return { send: [{ to: "edge", type: "test.acted", payload: fact }] };
  },
  ephemeral: (message) => context.emit({ to: "edge", type: "test.delta", payload: message.payload }),
});

/** Settled by the `test.release` of this key, whichever comes first. */
function release(key: string): PromiseWithResolvers<void> {
  const known = released.get(key) ?? Promise.withResolvers<void>();
  released.set(key, known);
  return known;
}
