/** Proves that whoever closes a server's transport leaves no process behind, however often and however early they do. */
import assert from "node:assert/strict";
import { sleep, systemClock } from "../../../lib/clock.ts";
import { lives } from "../../../tests/doubles/fault_bench.ts";
import { StdioTransport } from "./stdio_transport.ts";

const cat = () => new StdioTransport({ command: "/bin/cat", args: [], env: {} }, systemClock);

Deno.test("closing resolves only when the process is gone, for the second who closes too", async () => {
  const transport = cat();
  let isGone = false;
  transport.onclose = () => isGone = true;
  await transport.start();

  const first = transport.close();
  await transport.close();

  assert.equal(isGone, true);
  await first;
});

Deno.test("what was closed before it began does not begin", async () => {
  const transport = cat();

  await transport.close();

  await assert.rejects(transport.start(), /stopped before it began/);
});

/** A server that is a script; resolves with the pid that it tells. */
async function told(transport: StdioTransport): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>();
  transport.onmessage = (message) => "method" in message && resolve(Number(message.params?.pid));
  await transport.start();
  return await promise;
}

const server = (...lines: string[]) => ({
  command: "/bin/bash",
  args: [
    "-c",
    [...lines, `echo '{"jsonrpc":"2.0","method":"started","params":{"pid":'$!'}}'`, "cat"].join("\n"),
  ],
  env: { PATH: "/usr/bin:/bin" },
  bash: "/bin/bash",
});

Deno.test("what a server without a sandbox started ends with it", async () => {
  const transport = new StdioTransport(server("sleep 60 >/dev/null 2>&1 &"), systemClock);
  const pid = await told(transport);

  await transport.close();

  // A killed process may be seen for another moment.
  for (let looks = 0; lives(pid) && looks < 1_000; looks++) {
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  assert.equal(lives(pid), false);
});

Deno.test("a process that left its server's group and keeps its pipes does not hold up the close", async () => {
  const transport = new StdioTransport(server("setsid sleep 60 &"), systemClock);
  const pid = await told(transport);
  const enough = new AbortController();

  const closed = transport.close().then(() => true);
  const waited = sleep(systemClock, 20_000, enough.signal).then(() => false, () => false);
  const wasFirst = await Promise.race([closed, waited]);

  enough.abort();
  Deno.kill(pid, "SIGKILL");
  await closed;
  assert.equal(wasFirst, true);
});
