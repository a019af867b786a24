import assert from "node:assert/strict";
import { join } from "node:path";
import { root } from "../build.ts";
import { lives, spins } from "../tests/doubles/fault_bench.ts";
import { TestRuntime } from "../tests/doubles/test_runtime.ts";

interface Told {
  readonly pids: number[];
  readonly downs: unknown[];
}

/** A supervisor in a process of its own. */
function startSupervisor(folder: string, ...more: string[]) {
  const child = new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "-A",
      "--no-check",
      "--quiet",
      join(root, "tests/doubles/runtime_process.ts"),
      folder,
      ...more,
    ],
    stdin: "piped",
    stdout: "piped",
  }).spawn();
  const stdin = child.stdin.getWriter();
  const lines = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  return {
    pid: child.pid,
    async told(): Promise<Told> {
      const { value } = await lines.read();
      assert.ok(value, "the supervisor process ended");
      return JSON.parse(value) as Told; // what `runtime_process.ts` prints
    },
    ask: (fault = "") => stdin.write(new TextEncoder().encode(`${fault}\n`)),
    async end(): Promise<void> {
      await stdin.close().catch(() => {}); // it may have been killed
      await lines.cancel();
      await child.status;
    },
  };
}

async function until(what: string, fact: () => boolean | Promise<boolean>): Promise<void> {
  for (const end = performance.now() + 10_000; !await fact();) {
    assert.ok(performance.now() < end, `waited in vain until ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

Deno.test("a killed supervisor leaves no process, and the next one writes down what was lost", async () => {
  const folder = await Deno.makeTempDir();
  const supervisor = startSupervisor(folder);
  const { pids } = await supervisor.told();
  assert.equal(pids.filter(lives).length, 3);

  Deno.kill(supervisor.pid, "SIGKILL");

  await supervisor.end();
  await until("all are gone", () => !pids.some(lives));
  const next = await TestRuntime.start({ folder });
  await next.until("all live again", () => next.runtime.actors().every((actor) => actor.state === "live"));
  const downs = await next.rows("SELECT ref, incarnation, reason FROM downs ORDER BY ref");
  await next.stop();
  assert.deepEqual(
    downs,
    ["approval", "conversation/a", "conversation/b", "tools"].map((ref) => ({
      ref,
      incarnation: 1,
      reason: "lost",
    })),
  );
  await Deno.remove(folder, { recursive: true });
});

for (const fault of ["loop", "microtasks"]) {
  Deno.test(`a killed supervisor leaves no process in which a Worker spins: ${fault}`, async () => {
    const folder = await Deno.makeTempDir();
    const supervisor = startSupervisor(folder, "60000");
    const { pids } = await supervisor.told();
    await supervisor.ask(fault);
    await until("a core spins", async () => (await Promise.all(pids.map(spins))).includes(true));

    Deno.kill(supervisor.pid, "SIGKILL");

    await supervisor.end();
    await until("all are gone", () => !pids.some(lives));
    await Deno.remove(folder, { recursive: true });
  });
}

Deno.test("ten seconds of a stopped supervisor kill nobody who may be silent for five", async () => {
  const folder = await Deno.makeTempDir();
  const supervisor = startSupervisor(folder, "5000");
  const before = await supervisor.told();

  Deno.kill(supervisor.pid, "SIGSTOP");
  // Only real time can pass here: the stop, and then as long as it would take to judge.
  await new Promise((resolve) => setTimeout(resolve, 10_000));
  Deno.kill(supervisor.pid, "SIGCONT");
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  await supervisor.ask();
  const after = await supervisor.told();

  await supervisor.end();
  assert.deepEqual(after, before);
  await Deno.remove(folder, { recursive: true });
});
