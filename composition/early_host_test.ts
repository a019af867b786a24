import assert from "node:assert/strict";
import type { LinkEvents, OpenLink } from "../runtime/link/process_link.ts";
import { EarlyHost } from "./early_host.ts";

const spec = { flags: ["--quiet"], entry: "/host.ts", env: { A: "1" } };
const end = { code: 0, signal: null, badFrame: false };

/** Processes that only listen. */
function desk() {
  const started: { events: LinkEvents; closed: boolean }[] = [];
  const open: OpenLink = (_spec, events) => {
    const process = { events, closed: false };
    const pid = started.push(process);
    const close = () => void (process.closed = true);
    return { pid, send() {}, close, kill() {}, ended: Promise.resolve() };
  };
  const heard: string[] = [];
  const owner: LinkEvents = {
    onEntry: ({ text }) => heard.push(text),
    onNoise: (line) => heard.push(line),
    onExit: () => heard.push("exit"),
  };
  return { started, open, heard, owner };
}

Deno.test("the first request for such a process gets the early one, and hears what it said before", async () => {
  const { started, open, heard, owner } = desk();
  const early = new EarlyHost(open, spec);
  started[0]?.events.onEntry({ slot: 0, text: "up" });

  const other = early.openLink({ ...spec, entry: "/other.ts" }, owner);
  const link = early.openLink({ ...spec, env: { A: "1" } }, owner);
  const next = early.openLink(spec, owner);
  assert.deepEqual(heard, [], "not before it is in hand");
  await Promise.resolve();
  started[0]?.events.onEntry({ slot: 0, text: "beat" });
  started[0]?.events.onExit(end);

  assert.deepEqual([link.pid, other.pid, next.pid], [1, 2, 3]);
  assert.deepEqual(heard, ["up", "beat", "exit"]);
});

Deno.test("an early process that ended, could not start or was closed is nobody's", () => {
  const { started, open, owner } = desk();
  const ended = new EarlyHost(open, spec);
  started[0]?.events.onExit(end);
  assert.equal(ended.openLink(spec, owner).pid, 2);

  const closed = new EarlyHost(open, spec);
  closed.close();
  assert.equal(started[2]?.closed, true);
  assert.equal(closed.openLink(spec, owner).pid, 4);

  let fails = true;
  const failing = new EarlyHost((...args) => {
    if (fails) throw new Error("no more processes");
    return open(...args);
  }, spec);
  fails = false;
  assert.equal(failing.openLink(spec, owner).pid, 5);
});

Deno.test("an early process that the runtime's start did not take ends with the start, one that it took lives on", async () => {
  const { started, open, owner } = desk();
  const start = new EarlyHost(open, spec);
  const other = new EarlyHost(open, spec);
  const failed = new EarlyHost(open, spec);

  const link = await start.during(Promise.resolve(start.openLink(spec, owner)));
  await other.during(Promise.resolve(other.openLink({ ...spec, flags: ["--loud"] }, owner)));
  await assert.rejects(failed.during(Promise.reject(new Error("port in use"))), /port in use/);

  assert.equal(link.pid, 1);
  assert.deepEqual(started.map(({ closed }) => closed), [false, true, true, false]);
});
