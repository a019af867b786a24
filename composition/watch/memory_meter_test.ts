import assert from "node:assert/strict";
import { FakeClock } from "../../tests/doubles/fake_clock.ts";
import type { ActorView } from "../../runtime/tree.ts";
import { MemoryMeter, parsePss, readPss } from "./memory_meter.ts";

const actor: ActorView = {
  ref: "approval",
  kind: "approval",
  state: "live",
  incarnation: 1,
  pid: 7,
  mailbox: { control: 0, normal: 0, oldestMs: 0 },
  restarts: 0,
};

Deno.test("a process's memory is known after a look, and looked at again only after five seconds", async () => {
  const clock = new FakeClock();
  let looks = 0;
  const read = () => Promise.resolve(`/proc/7/smaps_rollup:Pss:           ${1024 * ++looks} kB\n`);
  const meter = new MemoryMeter({ clock, read });

  const first = meter.annotate([actor])[0]?.pssMb;
  await meter.settled();
  const second = meter.annotate([actor])[0]?.pssMb;
  await clock.advance(5_000);
  meter.annotate([actor]);
  await meter.settled();
  const third = meter.annotate([actor])[0]?.pssMb;

  assert.deepEqual([first, second, third, looks], [undefined, 1, 2, 2]);
});

Deno.test("an unreadable process leaves the number out", async () => {
  const meter = new MemoryMeter({ clock: new FakeClock(), read: () => Promise.reject(new Error("no grep")) });

  meter.annotate([actor]);
  await meter.settled();

  assert.deepEqual(meter.annotate([actor]), [actor]);
});

Deno.test("the kernel's own lines are understood", { ignore: Deno.build.os !== "linux" }, async () => {
  const found = parsePss(await readPss([Deno.pid, 2 ** 30]));

  assert.equal(found.size, 1);
  assert.ok((found.get(Deno.pid) ?? 0) > 10);
});
