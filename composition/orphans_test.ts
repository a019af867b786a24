import assert from "node:assert/strict";
import { lives } from "../tests/doubles/fault_bench.ts";
import { Orphans } from "./orphans.ts";

async function withFolder(body: (open: (pid?: number) => Promise<Orphans>) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    await body(async (pid = 1 << 30) => {
      const orphans = new Orphans({ file: `${folder}/tree.json`, pid, log: () => {} });
      await orphans.note();
      return orphans;
    });
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** A process whose parent has ended. */
async function orphan(env: Readonly<Record<string, string>>): Promise<number> {
  const script = "sleep 60 >/dev/null 2>&1 & echo $!";
  const { stdout } = await new Deno.Command("sh", { args: ["-c", script], env, stdin: "null" }).output();
  return Number(new TextDecoder().decode(stdout));
}

async function gone(pid: number): Promise<void> {
  while (lives(pid)) await new Promise((resolve) => setTimeout(resolve, 5));
}

Deno.test("a stopped process of a killed supervisor is ended by the next one, and nobody else is", async () => {
  await withFolder(async (open) => {
    const left = await orphan((await open()).env);
    const stranger = await orphan({ CALLBOARD_TREE: crypto.randomUUID() });
    Deno.kill(left, "SIGSTOP");

    const next = await open();
    const own = await orphan(next.env);
    await next.end();
    await gone(left);

    assert.deepEqual([lives(stranger), lives(own)], [true, true]);
    for (const pid of [stranger, own]) Deno.kill(pid, "SIGKILL");
  });
});

Deno.test("a child of a supervisor that still runs is no orphan", async () => {
  await withFolder(async (open) => {
    const running = await open(Deno.pid);
    const child = new Deno.Command("sleep", { args: ["60"], env: running.env }).spawn();

    await (await open()).end();

    assert.equal(lives(child.pid), true);
    // Its name is not forgotten: when that supervisor is gone, it may be left behind after all.
    const left = await orphan(running.env);
    await (await open()).end();
    await gone(left);
    child.kill("SIGKILL");
    await child.status;
  });
});

Deno.test("a life that ended in order leaves no name, and one that was not looked after yet keeps its own", async () => {
  await withFolder(async (open) => {
    const left = await orphan((await open()).env);
    const second = await open();
    const kept = await orphan(second.env);
    await second.close();

    await (await open()).end();
    await gone(left);

    assert.equal(lives(kept), true, "it was not looked for");
    Deno.kill(kept, "SIGKILL");
  });
});
