/**
 * A disk that fills up and empties again, for real: a small file system in memory holds the data folder. Mounting one takes root; without it
 * the test is skipped, and `composition/watch/watch_test.ts` and `runtime/observe_test.ts` prove the two halves.
 */
import assert from "node:assert/strict";
import { World } from "./world.ts";

const SIZE_MB = 240;
/** Leaves less than 200 MB. */
const FILL_BYTES = 60_000_000;
/** Longer than the lease lives, and than a commit is tried: 10 s each. */
const FULL_FOR_MS = 22_000;

/** Found out by trying: containers often forbid it to root, too. */
const mayMount = await withSmallDisk(() => Promise.resolve()).then(() => true, () => false);

Deno.test(
  "with a full disk no new turn starts, people are told where they look, and it goes on when there is room",
  {
    ignore: !mayMount,
  },
  () =>
    withSmallDisk(async (disk) => {
      await using world = await World.open({ env: { CALLBOARD_DATA: `${disk}/data` } });
      const reasons = () => unreadyReasons(world);
      await Deno.writeFile(`${disk}/fill`, new Uint8Array(FILL_BYTES));
      await world.until(async () => /200 MB/.test(await reasons()));

      world.zulip.say("King Hamlet", "general", "t", "@**Callboard** are you there");
      await world.answered("t", /200 MB/);
      const { notices } = await world.get<{ notices?: string[] }>("/api/inbox");
      await world.restart("SIGKILL");
      await world.until(async () => await reasons() === notices?.join());
      const meanwhile = world.answers("t");
      await Deno.remove(`${disk}/fill`);
      await world.answered("t", /echo: [^]*are you there/);

      assert.match(notices?.join() ?? "", /200 MB/);
      assert.ok(!meanwhile.some((text) => text.includes("echo")), "no turn ran");
      await world.until(async () => await reasons() === "");
    }),
);

Deno.test(
  "a disk without a free byte for longer than a lease lives ends nothing: it is said, and what waited goes on when there is room",
  {
    ignore: !mayMount,
  },
  () =>
    withSmallDisk(async (disk) => {
      await using world = await World.open({ env: { CALLBOARD_DATA: `${disk}/data` } });
      const reasons = () => unreadyReasons(world);
      const { pid } = world.supervisor;
      let ended = false;
      void world.supervisor.status.then(() => ended = true);
      await fill(`${disk}/fill`);
      const fullAt = Date.now();
      await world.until(async () => /disk is full/.test(await reasons()));
      world.zulip.say("King Hamlet", "general", "t", "@**Callboard** are you there");
      await world.until(() => Promise.resolve(ended || Date.now() - fullAt > FULL_FOR_MS));
      assert.equal(ended, false, world.supervisor.output());
      await Deno.remove(`${disk}/fill`);

      await world.answered("t", /echo: [^]*are you there/);

      assert.equal(world.supervisor.pid, pid);
      await world.until(async () => await reasons() === "");
    }),
);

/** Why it is not ready, as an operator reads it; empty when it is. */
async function unreadyReasons(world: World): Promise<string> {
  const response = await fetch(`${world.supervisor.url}/readyz`);
  const { reasons }: { reasons: string[] } = await response.json();
  return reasons.join();
}

/** Takes every byte, also those that are given back in the meantime. */
async function fill(path: string): Promise<void> {
  for (let bytes = 1 << 20; bytes >= 1 << 12;) {
    const fits = await Deno.writeFile(path, new Uint8Array(bytes), { append: true }).then(
      () => true,
      () => false,
    );
    if (!fits) bytes >>= 1;
  }
}

/** Runs `body` on a new small file system. Rejects where that is not allowed. */
async function withSmallDisk(body: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "callboard-disk-" });
  try {
    await run("mount", "-t", "tmpfs", "-o", `size=${SIZE_MB}m`, "tmpfs", folder);
    try {
      await body(folder);
    } finally {
      await run("umount", folder);
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function run(program: string, ...args: string[]): Promise<void> {
  const { success } = await new Deno.Command(program, { args, stdin: "null", stdout: "null", stderr: "null" })
    .output();
  if (!success) throw new Error(`${program} is not allowed here`);
}
