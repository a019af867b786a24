/** The counter as a RivetKit actor behind the bench's HTTP. Runs in Node, in the folder of its own `node_modules`. */
import { createServer } from "node:http";
import process from "node:process";

// A name that Deno does not look up: the package is installed where this file is copied to, and is no dependency of the product.
const rivetkit = "rivetkit";
const { actor, queue, setup } = await import(rivetkit);

const counter = actor({
  createState: () => ({ count: 0 }),
  queues: { asked: queue() },
  async run(c) {
    for await (const message of c.queue.iter({ completable: true })) {
      c.state.count++;
      await c.saveState({ immediate: true });
      await message.complete({ count: c.state.count });
    }
  },
});

const enginePort = Number(process.env.ENGINE_PORT);
setup({ use: { counter }, noWelcome: true, startServices: false, enginePort }).start();

async function ask(name) {
  const query = `rvt-namespace=default&rvt-method=getOrCreate&rvt-key=${name}&rvt-pool=default`;
  const response = await fetch(`http://127.0.0.1:${enginePort}/gateway/counter/queue/asked?${query}`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-rivet-encoding": "json" },
    body: JSON.stringify({ body: {}, name: "asked", wait: true, timeout: 30_000 }),
  });
  return { status: response.status, text: await response.text() };
}

createServer(async (request, response) => {
  const [, verb, name] = request.url.split("/");
  // It is healthy when an actor answers.
  const { status, text } = await ask(verb === "health" ? "probe" : name).catch((error) => ({
    status: 503,
    text: String(error),
  }));
  response.writeHead(status, { "content-length": Buffer.byteLength(text) }).end(text);
}).listen(Number(process.env.PORT), "127.0.0.1");
