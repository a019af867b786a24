/**
 * Two supervisors on one database: the second waits, takes over soon after the first is gone, and a first one that was only paused neither
 * writes nor acts any more, ends by itself and leaves no process behind.
 */
import assert from "node:assert/strict";
import { DbError } from "../../store/db.ts";
import { LEASE_TTL_MS } from "../../store/lease.ts";
import { openDb } from "../../store/open.ts";
import { call, say } from "../doubles/fake_model/script.ts";
import { startSupervisor } from "../supervisor_process.ts";
import { World } from "./world.ts";

const WAITS = /another supervisor holds the lease/;
/** Exit code of a process that may write no more. */
const EX_TEMPFAIL = 75;
/** What a takeover may last beyond the lease's life: the successor's look, its start, and a loaded machine. */
const SLACK_MS = 10_000;

Deno.test("a second supervisor waits for the lease and takes over within seconds of the first's death", async () => {
  await using world = await World.open();
  const first = world.supervisor;
  const next = startSupervisor(world.env);
  world.zulip.say("King Hamlet", "general", "before", "@**Callboard** still the first");
  await world.answered("before", /still the first/);

  const died = performance.now();
  await first.stop("SIGKILL");
  await world.use(await next);
  const took = performance.now() - died;
  world.zulip.say("King Hamlet", "general", "after", "@**Callboard** now the second");
  await world.answered("after", /now the second/);

  assert.match(world.supervisor.output(), WAITS);
  assert.ok(took < LEASE_TTL_MS + SLACK_MS, `took over after ${Math.round(took)} ms`);
  assert.equal(world.answers("before").length, 1);
  assert.equal(world.answers("after").length, 1);
});

Deno.test("a second supervisor takes over at once when the first stops in peace", async () => {
  await using world = await World.open();
  const first = world.supervisor;
  const next = startSupervisor(world.env);
  await world.until(async () => await hasWaited(world));

  const stopping = performance.now();
  assert.equal(await first.stop("SIGTERM"), 0);
  await world.use(await next);
  const took = performance.now() - stopping;

  assert.ok(took < LEASE_TTL_MS / 3 + SLACK_MS, `took over after ${Math.round(took)} ms`);
});

Deno.test("a host that was stopped when its supervisor was killed is ended by the next one", async () => {
  await using world = await World.open();
  const approval = (await world.actors()).find(({ ref }) => ref === "approval");
  const host = (await familyOf(world.supervisor.pid)).find(({ pid }) => pid === approval?.pid);
  assert.ok(host);
  Deno.kill(host.pid, "SIGSTOP");

  await world.restart("SIGKILL");

  await world.until(async () => await isGone(host));
  // Said after it was done, and on its way through a pipe.
  const told = /ended what a killed supervisor left behind/;
  await world.until(() => Promise.resolve(told.test(world.supervisor.output())));
});

Deno.test("a supervisor that was only paused writes nothing after the takeover, ends itself, and leaves no process", async () => {
  await using world = await World.open();
  let hang = true;
  world.model.script(({ messages }) => {
    const reply = [
      say("Half of the answer "),
      ...(hang ? [{ do: "hang" as const }] : []),
      say("and its end."),
    ];
    hang = false;
    return messages.length > 0 ? reply : [];
  });
  world.zulip.say("King Hamlet", "general", "t", "@**Callboard** speak");
  await world.model.whenHanging();
  const first = world.supervisor;
  const family = await familyOf(first.pid);

  await pause(world);
  await world.use(await startSupervisor(world.env));
  // The first one's stream of the model ends now; nobody may hear of it.
  world.model.release();
  await world.answered("t", /Half of the answer[^]*and its end\./);
  Deno.kill(first.pid, "SIGCONT");
  const { code } = await first.status;
  await world.until(async () => (await Promise.all(family.map(isGone))).every(Boolean));
  await world.quiet();

  assert.equal(code, EX_TEMPFAIL, first.output());
  assert.equal(world.answers("t").length, 1, "one answer");
  assert.ok(family.length > 3, "the first had children");
});

Deno.test("a command of a paused supervisor is dead before its successor begins", async () => {
  await using world = await World.open();
  world.model.script(({ messages }) => {
    const result = messages.findLast(({ role }) => role === "tool");
    if (result) return [say(`the tool said: ${result.text}`)];
    return [
      call("exec_command", { command: "while true; do echo tick >> ticks.txt; sleep 0.02; done" }, "call_1"),
    ];
  });
  world.zulip.say("King Hamlet", "general", "t", "@**Callboard** count");
  const item = await world.waiting();
  const decided = await world.decide(item, "allow_once");
  assert.equal(decided.status, 200, await decided.text());
  const ticks = async () => (await world.workspaceFile(item.conversation.id, "ticks.txt") ?? "").length;
  await world.until(async () => await ticks() > 0);
  const first = world.supervisor;

  await pause(world);
  const successor = await startSupervisor(world.env);
  const before = await ticks();
  await world.use(successor);
  await world.answered("t", /unknown/i);
  const after = await ticks();
  Deno.kill(first.pid, "SIGCONT");

  assert.equal((await first.status).code, EX_TEMPFAIL);
  assert.equal(after, before, "nothing ran any more");
  assert.equal(world.answers("t").length, 1);
});

/**
 * Stops the supervisor between two writes. One that is stopped in the middle of one keeps the file's lock, and nobody can take over before it goes on
 * or is killed.
 */
async function pause(world: World): Promise<void> {
  for (;;) {
    Deno.kill(world.supervisor.pid, "SIGSTOP");
    if (await canWrite(world)) return;
    Deno.kill(world.supervisor.pid, "SIGCONT");
  }
}

async function canWrite(world: World): Promise<boolean> {
  try {
    const db = await openDb({ url: `file:${world.folder}/data/callboard.db`, timeoutMs: 100 });
    await db.batch([]).finally(() => db.close());
    return true;
  } catch (error) {
    if (error instanceof DbError && error.kind === "busy") return false;
    throw error;
  }
}

/** Whether a second process is known to wait, which only the machine can tell: it holds the database's file open. */
async function hasWaited(world: World): Promise<boolean> {
  let holders = 0;
  for await (const { name } of Deno.readDir("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    const environment = await Deno.readTextFile(`/proc/${name}/environ`).catch(() => "");
    const command = await Deno.readTextFile(`/proc/${name}/cmdline`).catch(() => "");
    if (environment.includes(world.folder) && command.includes("supervisor.ts")) holders++;
  }
  return holders === 2;
}

/** A process and all its descendants, each with its start time, since numbers are given again. */
async function familyOf(pid: number): Promise<{ pid: number; start: string }[]> {
  const all: { pid: number; parent: number; start: string }[] = [];
  for await (const { name } of Deno.readDir("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    const seen = await statOf(Number(name));
    if (seen) all.push({ pid: Number(name), ...seen });
  }
  const below = (parent: number): typeof all =>
    all.filter((process) => process.parent === parent).flatMap((process) => [process, ...below(process.pid)]);
  return [...all.filter((process) => process.pid === pid), ...below(pid)];
}

async function isGone({ pid, start }: { pid: number; start: string }): Promise<boolean> {
  const seen = await statOf(pid);
  return seen === undefined || seen.start !== start;
}

/** Parent and start time from `/proc/<pid>/stat`; what stands before the last parenthesis may hold anything. */
async function statOf(pid: number): Promise<{ parent: number; start: string } | undefined> {
  const text = await Deno.readTextFile(`/proc/${pid}/stat`).catch(() => undefined);
  const fields = text?.slice(text.lastIndexOf(")") + 2).split(" ");
  return fields && { parent: Number(fields[1]), start: fields[19] ?? "" };
}
