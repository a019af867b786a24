/**
 * What happens to whole processes, and to the disk: killed, stopped, a corrupt frame on the link, a full file system. For each: the others
 * keep answering (the longest silence is printed), nobody is blamed for what another one suffered, and no mail is lost or done twice.
 */
import assert from "node:assert/strict";
import { downs, lives, pidOf, Probe, withRuntime } from "../tests/doubles/fault_bench.ts";
import type { TestRuntime } from "../tests/doubles/test_runtime.ts";

const refs = ["conversation/a", "conversation/b"];

/** Lets both conversations live in one host. Returns its pid. */
async function settle(test: TestRuntime): Promise<number> {
  await test.insertAll(refs.map((ref) => [ref, "test.add", { n: 1 }]));
  const pid = await pidOf(test, "conversation/a");
  assert.equal(await pidOf(test, "conversation/b"), pid);
  return pid;
}

async function added(test: TestRuntime): Promise<number> {
  const totals = await Promise.all(refs.map((ref) => test.total(ref)));
  return totals.reduce((sum, total) => sum + total, 0);
}

const ends: { what: string; end: (pid: number) => void }[] = [
  { what: "SIGKILL", end: (pid) => Deno.kill(pid, "SIGKILL") },
  { what: "SIGSTOP", end: (pid) => Deno.kill(pid, "SIGSTOP") },
];

for (const { what, end } of ends) {
  Deno.test(`a host's end blames nobody who only lived there: ${what}`, async () => {
    await withRuntime(async (test) => {
      const pid = await settle(test);
      await using probe = new Probe(test, ["approval"]);

      end(pid);
      for (const ref of refs) {
        await test.insertAll(Array.from({ length: 20 }, () => [ref, "test.add", { n: 1 }]));
      }

      await test.until("the host is gone", () => !lives(pid));
      await test.until("all are done", async () =>
        (await Promise.all(refs.map((ref) => test.open(ref)))).every((open) => open === 0));
      await test.until("the ends are written down", async () => (await downs(test)).length >= 2);
      console.log(`${what}: others silent for ${await probe.stop()} ms at most`);
      for (const ref of refs) assert.equal(await test.total(ref), 21);
      assert.deepEqual(
        await downs(test),
        refs.map((ref) => ({ ref, incarnation: 1, reason: "lost", suspect: 0 })),
      );
    }, { limits: { hangMs: 2_000 } });
  });
}

Deno.test("bystanders of a host's deaths count nothing, however often it dies", async () => {
  await withRuntime(async (test) => {
    for (let death = 0; death < 7; death++) {
      const pid = await settle(test);
      // Who has something in hand when a host ends is set apart from the others, to find the guilty one.
      await test.until("both are idle", async () => await added(test) === 2 * (death + 1));
      Deno.kill(pid, "SIGKILL");
      await test.until("both ends are written down", async () =>
        (await downs(test)).length === 2 * (death + 1));
    }

    assert.ok((await downs(test)).every((down) => down.reason === "lost" && down.suspect === 0));
    assert.deepEqual(await test.rows("SELECT id FROM messages WHERE failures > 0"), []);
    assert.ok(refs.every((ref) => test.view(ref)?.state !== "parked"));
  });
});

Deno.test("a gateway that is stopped hangs, and its message comes back as resumed", async () => {
  await withRuntime(async (test) => {
    const pid = await pidOf(test, "tools");
    await using probe = new Probe(test, ["approval"]);
    Deno.kill(pid, "SIGSTOP");

    await test.insert("tools", "test.act", { key: "k", n: 1 });

    await test.until("it is done", () => test.edge.some((message) => message.type === "test.acted"));
    console.log(`a stopped gateway: others silent for ${await probe.stop()} ms at most`);
    assert.ok(!lives(pid));
    assert.deepEqual((await downs(test)).map((down) => [down.ref, down.reason]), [["tools", "hang"]]);
  }, { limits: { gatewayHangMs: 2_000 } });
});

/** A new small file system in memory; undefined where that is not allowed. */
async function smallDisk(): Promise<string | undefined> {
  const folder = await Deno.makeTempDir();
  if (await run("mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", folder)) return folder;
  await Deno.remove(folder);
  return undefined;
}

async function run(command: string, ...args: string[]): Promise<boolean> {
  const { success } = await new Deno.Command(command, { args, stdout: "null", stderr: "null" }).output()
    .catch(() => ({ success: false }));
  return success;
}

Deno.test("a disk without a free byte kills nobody, and what waited is committed when there is room", async () => {
  const disk = await smallDisk();
  if (disk === undefined) return console.log("skipped: mounting a file system is not allowed here");
  const folder = `${disk}/data`;
  await Deno.mkdir(folder);
  try {
    await withRuntime(async (test) => {
      const pid = await settle(test);
      test.runtime.hold({ since: 0, reason: "the disk is not full yet", matches: () => true });
      await test.insertAll(Array.from({ length: 20 }, () => ["conversation/a", "test.add", { n: 1 }]));
      const fill = (bytes: number) =>
        Deno.writeFile(`${disk}/fill`, new Uint8Array(bytes), { append: true }).then(() => true, () => false);
      for (const bytes of [1 << 20, 1 << 12]) while (await fill(bytes));
      test.runtime.hold(undefined);
      // Commits fail and are tried again in this time, which nothing tells.
      await new Promise((resolve) => setTimeout(resolve, 5_000));
      assert.equal(await test.total("conversation/a"), 1);

      await Deno.remove(`${disk}/fill`);

      await test.until("all are done", async () => await test.open("conversation/a") === 0);
      assert.equal(await test.total("conversation/a"), 21);
      assert.equal(await pidOf(test, "conversation/a"), pid);
      assert.deepEqual(await downs(test), []);
    }, { folder, limits: { hangMs: 2_000 } });
  } finally {
    await run("umount", "--lazy", disk);
    await Deno.remove(disk);
  }
});
