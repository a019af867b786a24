/**
 * The runtime behind HTTP, for load from another process: `deno run -A callboard.ts FOLDER`. Prints its port. `POST /ask/NAME` enqueues a durable
 * message and answers 200 with the count once the actor's commit, reply row included, is on disk; `/tell/NAME` the same with a reply that is no row;
 * `/health` answers at once; `/left` counts open messages.
 */
import { sql } from "../../store/db.ts";
import { BenchRuntime } from "../bench_runtime.ts";

const [folder, maxLive = "100"] = Deno.args;
if (folder === undefined) throw new TypeError("'FOLDER' is missing");
const starting = BenchRuntime.start(folder, { maxLive: Number(maxLive) });

Deno.serve({
  hostname: "127.0.0.1",
  port: 0,
  onListen: ({ port }) => console.log(JSON.stringify({ port })),
}, async (request) => {
  const [, verb, name] = new URL(request.url).pathname.split("/");
  if (verb === "health") return new Response("ok");
  const bench = await starting;
  switch (verb) {
    case "ask":
    case "tell": {
      const { count } = await bench.ask(`counter/${name}`, `bench.${verb}`);
      return new Response(String(count));
    }
    case "left": {
      const open = await bench.store.query(
        sql("SELECT count(*) FROM messages WHERE state IN ('queued', 'started')"),
      );
      return new Response(String(open.rows[0]?.[0]));
    }
    default:
      return new Response("unknown", { status: 404 });
  }
});
await starting;
console.log(JSON.stringify({ ready: true }));
