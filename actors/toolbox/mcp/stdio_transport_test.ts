/** Proves that whoever closes a server's transport leaves no process behind, however often and however early they do. */
import assert from "node:assert/strict";
import { systemClock } from "../../../lib/clock.ts";
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
