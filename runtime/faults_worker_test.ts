/**
 * Each way in which a Worker can go wrong, on real processes. For each: the neighbours keep answering (the longest silence is printed), the
 * end is written down once and with its reason, the actor comes back, and its mail is whole.
 */
import assert from "node:assert/strict";
import { downs, lives, pidOf, Probe, spins, withRuntime } from "../tests/doubles/fault_bench.ts";

interface Fault {
  readonly fault: string;
  /** Reasons that are right. */
  readonly reasons: readonly string[];
  /** It costs its host, and its actor must live alone afterwards. */
  readonly costsHost: boolean;
}

const own = (fault: string, ...reasons: string[]): Fault => ({ fault, reasons, costsHost: false });
const hosts = (fault: string, ...reasons: string[]): Fault => ({ fault, reasons, costsHost: true });

const faults = [
  own("throw", "error"),
  own("reject", "error"),
  own("exit", "error"),
  own("kill", "error"),
  own("close", "exit"),
  own("kill by node", "error"),
  own("exit by node", "error"),
  hosts("loop", "hang"),
  hosts("microtasks", "hang"),
  hosts("regex", "hang"),
  hosts("chatter", "hang"),
  hosts("flood", "hang"),
  hosts("heap", "oom"),
  hosts("buffers", "oom"),
];

for (const { fault, reasons, costsHost } of faults) {
  Deno.test(`a Worker's fault stays its own: ${fault}`, async () => {
    await withRuntime(async (test) => {
      await test.insertAll(["a", "b"].map((id) => [`conversation/${id}`, "test.add", { n: 1 }]));
      const pid = await pidOf(test, "conversation/b");
      assert.equal(await pidOf(test, "conversation/a"), pid);
      await using probe = new Probe(test, ["conversation/b", "approval"]);
      await test.insertAll(
        Array.from({ length: 5 }, (_, n) => {
          const [type, payload] = n === 2
            ? ["test.fault", { fault, crashes: 1 }] as const
            : ["test.add", { n: 1 }] as const;
          return ["conversation/a", type, payload];
        }),
      );
      await test.until("its end is written down", async () =>
        (await downs(test)).some((down) => down.ref === "conversation/a"));
      await test.until("its mail is done", async () => await test.open("conversation/a") === 0);
      await test.until("both live", () =>
        ["a", "b"].every((id) => test.view(`conversation/${id}`)?.state === "live"));
      const gap = await probe.stop();
      console.log(`${fault}: others silent for ${gap} ms at most`);
      const events = await test.rows(
        "SELECT payload ->> 'n' AS n FROM events WHERE actor = 'conversation/a'",
      );
      assert.equal(await test.total("conversation/a"), 5, "nothing lost");
      assert.equal(events.length, 6, "nothing twice");
      const ends = await downs(test);
      const its = ends.filter((down) => down.ref === "conversation/a");
      const last = its.pop();
      assert.ok(reasons.includes(last?.reason ?? ""), `it ended by ${last?.reason}`);
      assert.equal(last?.suspect, 1);
      // When its host died while the neighbour had a question in hand, both were set apart and it had a second chance.
      assert.ok(its.length <= (fault === "heap" || fault === "buffers" ? 1 : 0));
      assert.ok(its.every((down) => down.reason === "lost" && down.suspect === 0));
      assert.equal(last?.incarnation, its.length + 1);
      const others = ends.filter((down) => down.ref !== "conversation/a");
      assert.deepEqual(
        others.map((down) => [down.ref, down.reason, down.suspect]),
        costsHost ? [["conversation/b", "lost", 0]] : [],
      );
      assert.equal(lives(pid), !costsHost);
      const [a, b] = ["a", "b"].map((id) => test.view(`conversation/${id}`));
      assert.equal(a?.host !== b?.host, costsHost, "the suspect, and only it, lives alone");
      for (const { pid } of test.runtime.actors()) assert.ok(!pid || !await spins(pid), "a core is spinning");
    }, { limits: { hangMs: 2_000, hostMemoryMb: 400 } });
  });
}

for (const [fault, reason] of [["answer and loop", "error"], ["close and loop", "exit"]] as const) {
  Deno.test(`a Worker that was ended and spins costs its host: ${fault}`, async () => {
    await withRuntime(async (test) => {
      await test.insertAll(["a", "b"].map((id) => [`conversation/${id}`, "test.add", { n: 1 }]));
      const pid = await pidOf(test, "conversation/a");

      await test.insert("conversation/a", "test.fault", { fault, crashes: 1 });
      await test.insert("conversation/a", "test.add", { n: 1 });

      await test.until("the host is gone", () => !lives(pid));
      await test.until("its mail is done", async () => await test.total("conversation/a") === 2);
      const ends = await downs(test);
      const suspects = ends.filter((down) => down.suspect).map((
        down,
      ) => [down.ref, down.incarnation, down.reason]);
      assert.deepEqual(suspects, [["conversation/a", 1, reason]]);
      assert.ok(ends.every((down) => down.suspect || down.reason === "lost"));
    }, { limits: { hangMs: 2_000 } });
  });
}
