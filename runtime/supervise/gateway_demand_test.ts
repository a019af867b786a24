/** Gateways on demand without processes: when they start and sleep, and what is seen of that. */
import assert from "node:assert/strict";
import { type CellDesk, withDesk } from "../../tests/doubles/cell_desk.ts";

const IDLE_MS = 600_000;
const demand = { start: "demand" } as const;

Deno.test("a gateway on demand has no process before its first mail, and none again after it was idle", async () => {
  await withDesk(async (desk) => {
    await desk.clock.advance(5_000);
    assert.deepEqual([desk.processes.length, desk.view?.state, desk.view?.pid], [0, "sleeping", undefined]);

    await handleOne(desk, "a");
    await beating(desk, IDLE_MS - 1_000);
    assert.equal(desk.view?.state, "live");
    await beating(desk, 2_000);

    assert.deepEqual([desk.view?.state, desk.view?.pid], ["sleeping", undefined]);
    assert.deepEqual(desk.downs, ["shutdown: idle"]);
    await handleOne(desk, "b");
    assert.deepEqual([desk.processes.length, desk.view?.incarnation, desk.view?.restarts], [2, 2, 0]);
  }, demand);
});

Deno.test("a gateway with a message in hand, or with a commit under way, does not sleep", async () => {
  await withDesk(async (desk) => {
    desk.insert("a", "k");
    await desk.clock.advance(1);
    desk.process(0).say({ t: "up" });
    await beating(desk, IDLE_MS + 10_000);
    assert.equal(desk.view?.state, "live");

    desk.db.away = true;
    desk.process(0).say({ t: "done", id: "a" });
    await beating(desk, 2_000);
    assert.equal(desk.view?.state, "live");
    desk.db.away = false;
    await beating(desk, 2_000);

    assert.equal(desk.state("a"), "done");
    assert.deepEqual(desk.downs, ["shutdown: idle"]);
  }, demand);
});

Deno.test("mail that comes while a gateway goes to sleep is handled by the next process", async () => {
  await withDesk(async (desk) => {
    await handleOne(desk, "a");
    desk.process(0).holdStop = true;
    await beating(desk, IDLE_MS + 1_000);
    desk.insert("b", "k");
    await desk.clock.advance(100);
    assert.deepEqual(desk.process(0).delivered, ["a"]);

    desk.process(0).exit(0);
    await desk.clock.advance(100);

    assert.deepEqual(desk.process(1).delivered, ["b"]);
    assert.deepEqual(desk.downs, ["shutdown: idle"]);
  }, demand);
});

Deno.test("an actor that wakes starts the gateways that it uses", async () => {
  await withDesk(async (desk) => {
    desk.insert("a", "k", { to: "guest" });
    await desk.clock.advance(100);

    assert.equal(desk.processes.length, 1);
    desk.process(0).say({ t: "up" });
    await beating(desk, 60_000);
    assert.equal(desk.view?.state, "live");
  }, demand);
});

Deno.test("a gateway that introduces itself sleeps as soon as what it said is on disk", async () => {
  await withDesk(async (desk) => {
    assert.equal(desk.processes.length, 0);
    await desk.clock.advance(1_500);
    desk.db.away = true;
    desk.process(0).say({ t: "commit", n: 1, send: [{ to: "edge", type: "tools.known", payload: {} }] });
    desk.process(0).say({ t: "up" });
    await beating(desk, 2_000);
    assert.equal(desk.view?.state, "live");

    desk.db.away = false;
    await beating(desk, 2_000);

    assert.equal(desk.database.number("SELECT count(*) FROM messages WHERE type = 'tools.known'"), 1);
    assert.deepEqual([desk.view?.state, ...desk.downs], ["sleeping", "shutdown: idle"]);
  }, { ...demand, introduce: "soon" });
});

Deno.test("sleeping and starting on demand is no fault; an introduction that nothing works without, and a crash, are", async () => {
  await withDesk(async (desk) => {
    assert.equal(desk.view?.onDemand, undefined);
    await desk.clock.advance(1);
    desk.process(0).say({ t: "up" });
    await beating(desk, 1_000);
    assert.equal(desk.view?.onDemand, true);
    desk.insert("a", "k");
    await desk.clock.advance(1);

    desk.process(1).exit(9);
    await desk.clock.advance(1);

    assert.deepEqual([desk.view?.state, desk.view?.onDemand], ["starting", undefined]);
    await desk.clock.advance(1_000);
    assert.equal(desk.view?.state, "live", "it is started again");
  }, { ...demand, introduce: "now" });
});

Deno.test("a gateway on demand that crashes without mail is started again, so that its readiness is known", async () => {
  await withDesk(async (desk) => {
    await handleOne(desk, "a");
    desk.process(0).exit(9);
    await desk.clock.advance(500);

    assert.deepEqual([desk.processes.length, desk.view?.state], [2, "live"]);
    desk.process(1).say({ t: "up" });
    await beating(desk, IDLE_MS + 1_000);
    assert.deepEqual([desk.view?.state, ...desk.downs], ["sleeping", "exit: exit code 9", "shutdown: idle"]);
  }, demand);
});

Deno.test("a person's restart starts a sleeping gateway, and it stays for its idle time", async () => {
  await withDesk(async (desk) => {
    desk.runtime.restart("tools");
    await desk.clock.advance(1);
    desk.process(0).say({ t: "up" });
    await beating(desk, 60_000);

    assert.equal(desk.view?.state, "live");
  }, demand);
});

Deno.test("a person's restart of a gateway that goes to sleep at that moment starts it", async () => {
  await withDesk(async (desk) => {
    await handleOne(desk, "a");
    desk.process(0).holdStop = true;
    await beating(desk, IDLE_MS + 1_000);

    desk.runtime.restart("tools");
    await desk.clock.advance(1_000);

    assert.deepEqual([desk.processes.length, desk.view?.state], [2, "live"]);
  }, demand);
});

/** Has the newest process begin and handle one message. */
async function handleOne(desk: CellDesk, id: string): Promise<void> {
  desk.insert(id, "k");
  await desk.clock.advance(1);
  const process = desk.process(desk.processes.length - 1);
  process.say({ t: "up" });
  process.say({ t: "done", id });
  await desk.clock.advance(1);
}

/** Lets time go by in which what runs beats. */
async function beating(desk: CellDesk, ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= 1_000) {
    await desk.clock.advance(Math.min(1_000, left));
    for (const process of [...desk.processes, ...desk.hosts]) process.beat();
  }
}
