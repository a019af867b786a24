import assert from "node:assert/strict";
import { writeMetrics } from "../../lib/metrics.ts";
import type { Hold } from "../../runtime/mail/mailbox.ts";
import { Meter } from "../../runtime/meter.ts";
import type { ActorView } from "../../runtime/tree.ts";
import { FakeClock } from "../../tests/doubles/fake_clock.ts";
import { DiskWatch } from "./disk.ts";
import { freeBytes } from "./free_space.ts";
import { runtimeFamilies } from "./metrics.ts";
import { topicNote } from "../notes.ts";
import { unreadySingletons } from "./readiness.ts";

function actor(ref: string, more: Partial<ActorView> = {}): ActorView {
  const mailbox = { control: 0, normal: 0, oldestMs: 0 };
  return {
    ref,
    kind: ref.split("/")[0] ?? ref,
    state: "live",
    incarnation: 1,
    mailbox,
    restarts: 0,
    ...more,
  };
}

/** A watch whose disk the test fills. */
class Disk {
  readonly clock = new FakeClock(1_000);
  readonly holds: (Hold | undefined)[] = [];
  free: number | undefined = 10e9;
  readonly watch = new DiskWatch({
    clock: this.clock,
    log: () => {},
    freeBytes: () =>
      this.free === undefined ? Promise.reject(new Error("no such folder")) : Promise.resolve(this.free),
    hold: (hold) => void this.holds.push(hold),
  });

  async has(free: number | undefined): Promise<void> {
    this.free = free;
    await this.clock.advance(5_000);
  }
}

Deno.test("below 200 MB free what starts a turn is held, and only that; it is lifted when there is room again", async () => {
  const disk = new Disk();
  await disk.watch.start();

  await disk.has(199_999_999);
  const notices = disk.watch.notices();
  await disk.has(100);
  const fullNotices = disk.watch.notices();
  const [hold] = disk.holds;
  await disk.has(219_999_999);
  const near = disk.holds.length;
  await disk.has(220_000_000);
  disk.watch.stop();

  assert.equal(near, 1);
  assert.equal(disk.holds.length, 2);
  assert.equal(disk.holds[1], undefined);
  assert.match(notices[0] ?? "", /200 MB/);
  assert.match(fullNotices[0] ?? "", /nothing can be written/);
  assert.deepEqual(disk.watch.notices(), []);
  const to = "conversation/a";
  assert.equal(hold?.matches({ to, type: "conversation.message" }), true);
  for (const type of ["model.reply", "tool.result", "conversation.stop", "conversation.reset"]) {
    assert.equal(hold?.matches({ to, type }), false, type);
  }
  assert.equal(disk.clock.pending, 0);
});

Deno.test("a disk that is full at the start is known before the start goes on", async () => {
  const disk = new Disk();
  disk.free = 5;

  await disk.watch.start();
  disk.watch.stop();

  assert.equal(disk.holds.length, 1);
});

Deno.test("a disk that cannot be measured changes nothing", async () => {
  const disk = new Disk();
  disk.free = 5;
  await disk.watch.start();

  await disk.has(undefined);
  disk.watch.stop();

  assert.equal(disk.holds.length, 1);
});

Deno.test("a held message is told once a hold in its topic", () => {
  const note = {
    type: "held",
    ref: "conversation/a",
    messageType: "conversation.message",
    reason: "the disk is full",
    since: 5,
  } as const;

  const told = topicNote(note);

  assert.equal(told?.conversation, "a");
  assert.match(told?.text ?? "", /the disk is full/);
  assert.equal(told?.key, topicNote({ ...note })?.key);
  assert.notEqual(told?.key, topicNote({ ...note, since: 6 })?.key);
});

Deno.test("the free space of a real folder is a number", async () => {
  assert.ok(await freeBytes(".") > 0);
  await assert.rejects(freeBytes("./no/such/folder"));
});

Deno.test("a singleton that is down makes the whole unready, a conversation does not", () => {
  const lastDown = { reason: "exit", detail: "code 1", at: 0 } as const;

  const words = unreadySingletons([
    actor("approval"),
    actor("models", { state: "starting" }),
    actor("toolbox", { state: "starting", lastDown: { ...lastDown, reason: "lost" } }),
    actor("zulip", { state: "starting", lastDown, restarts: 2 }),
    actor("push", { state: "sleeping", onDemand: true }),
    actor("agents", { state: "starting", onDemand: true, lastDown: { ...lastDown, reason: "shutdown" } }),
    actor("conversation/a", { state: "parked", lastDown }),
  ]);

  assert.deepEqual(words, [
    "models is starting",
    "toolbox is starting",
    "zulip is down (exit) and is started again; see the Actors page",
  ]);
});

Deno.test("the runtime's families sum actors by kind and are valid Prometheus text", () => {
  const meter = new Meter();
  meter.commit(4, true);
  meter.commit(4, false);
  meter.down("conversation", "oom");
  meter.deadLetter("conversation/a");
  const box = { control: 1, normal: 2, oldestMs: 0 };

  const text = writeMetrics(runtimeFamilies(
    [
      actor("conversation/a", { mailbox: box, restarts: 2 }),
      actor("conversation/b", { mailbox: box, state: "sleeping" }),
      actor("approval"),
    ],
    meter.stats(),
  ));

  for (
    const line of [
      'callboard_mailbox_messages{kind="conversation",lane="normal"} 4',
      'callboard_mailbox_messages{kind="conversation",lane="control"} 2',
      'callboard_actors{kind="conversation",state="sleeping"} 1',
      'callboard_actor_restarts_total{kind="conversation"} 2',
      'callboard_actor_downs_total{kind="conversation",reason="oom"} 1',
      'callboard_actor_dead_letters_total{kind="conversation"} 1',
      'callboard_commits_total{outcome="refused"} 1',
      'callboard_commit_seconds_bucket{le="0.005"} 1',
      "callboard_commit_seconds_count 1",
    ]
  ) assert.ok(text.includes(`${line}\n`), `${line}\n${text}`);
});
