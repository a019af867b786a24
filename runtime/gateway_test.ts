import assert from "node:assert/strict";
import { lives, withRuntime } from "../tests/doubles/fault_bench.ts";
import type { TestRuntime } from "../tests/doubles/test_runtime.ts";

Deno.test("a gateway commits started, then done with its answer", async () => {
  await withRuntime(async (test) => {
    await test.insert("tools", "test.act", { key: "k", n: 1 });
    await test.insert("tools", "test.read", { key: "k", n: 4 });

    await test.until("it answered both", () => answers(test).length === 2);

    assert.deepEqual(answers(test).map((message) => message.payload), [
      { key: "k", n: 1, resumed: false, intent: null, mayAct: true },
      { value: { twice: 8 }, config: { secret: "only for tools" } },
    ]);
    assert.equal(await test.open("tools"), 0);
  });
});

Deno.test("a gateway that dies between its two commits gets the message again, resumed, with its intent", async () => {
  await withRuntime(async (test) => {
    await test.insert("tools", "test.act", { key: "k", n: 3, die: "between" });

    await test.until("it answered", () => answers(test).length === 1);

    assert.deepEqual(answers(test)[0]?.payload, {
      key: "k",
      n: 3,
      resumed: true,
      intent: { n: 3, at: "started" },
      mayAct: true,
    });
    const downs = await test.rows("SELECT ref, incarnation, reason FROM downs");
    assert.deepEqual(downs, [{ ref: "tools", incarnation: 1, reason: "exit" }]);
  });
});

Deno.test("a killed gateway comes back and finishes", async () => {
  await withRuntime(async (test) => {
    await test.insert("tools", "test.act", { key: "k", n: 1, waitFor: "k" });
    await test.until("it has started", async () => {
      const [row] = await test.rows<{ n: number }>(
        "SELECT count(*) AS n FROM messages WHERE state = 'started'",
      );
      return row?.n === 1;
    });
    const pid = test.view("tools")?.pid;
    assert.ok(pid);
    Deno.kill(pid, "SIGKILL");
    await test.until("it lives again", () =>
      test.view("tools")?.pid !== pid && test.view("tools")?.state === "live");
    await test.insert("tools", "test.release", { key: "k" });

    await test.until("it answered", () => answers(test).length === 1);

    assert.equal(Reflect.get(answers(test)[0]?.payload ?? {}, "resumed"), true);
  });
});

Deno.test("one key waits for its turn while another key and the control lane go on", async () => {
  await withRuntime(async (test) => {
    await test.insertAll([
      ["tools", "test.act", { key: "a", n: 1, waitFor: "a" }],
      ["tools", "test.act", { key: "a", n: 2 }],
      ["tools", "test.act", { key: "b", n: 3 }],
    ]);
    await test.until("the other key is done", () => answers(test).length === 1);
    assert.equal(Reflect.get(answers(test)[0]?.payload ?? {}, "n"), 3);

    await test.insert("tools", "test.release", { key: "a" });
    await test.until("all are done", () => answers(test).length === 3);

    assert.deepEqual(answers(test).map((message) => Reflect.get(message.payload ?? {}, "n")), [3, 1, 2]);
  });
});

Deno.test("a message that always crashes its gateway goes to the dead letters, and the next one is handled", async () => {
  await withRuntime(async (test) => {
    const poison = await test.insert("tools", "test.act", { key: "k", n: 1, die: "always" });
    await test.insert("tools", "test.act", { key: "k", n: 2 });

    await test.until("the sender and the next one are answered", () => answers(test).length === 2);

    const letters = await test.rows("SELECT message_id, failures FROM dead_letters");
    assert.deepEqual(letters, [{ message_id: poison, failures: 3 }]);
    assert.deepEqual(answers(test).map((message) => message.type).toSorted(), [
      "request.failed",
      "test.acted",
    ]);
  });
});

Deno.test("a gateway on demand runs for its mail and for who uses it, and leaves no process when it sleeps", async () => {
  const options = { gateway: { start: "demand" }, limits: { restMs: 0 } } as const;
  await withRuntime(async (test) => {
    assert.deepEqual([test.view("tools")?.state, test.view("tools")?.pid], ["sleeping", undefined]);
    await test.insert("tools", "test.act", { key: "k", n: 1, waitFor: "k" });
    await test.until("it lives", () => test.view("tools")?.state === "live");
    const pid = test.view("tools")?.pid;
    await test.insert("tools", "test.release", { key: "k" });
    await test.until("it answered and sleeps", () =>
      answers(test).length === 1 && test.view("tools")?.state === "sleeping");
    assert.equal(lives(pid ?? 0), false);

    await test.insert("conversation/a", "test.add", { n: 1 });
    await test.until("it was started for the conversation and sleeps again", async () =>
      test.view("tools")?.state === "sleeping" && (await ends(test)).length === 2);

    assert.deepEqual(await ends(test), ["shutdown: idle", "shutdown: idle"]);
  }, options);
});

Deno.test("a gateway prints into the log and not into its link", async () => {
  await withRuntime(async (test) => {
    await test.until("the line is there", () =>
      test.log.some((line) => line.text === "a gateway prints" && line.facts["ref"] === "tools"));
  });
});

async function ends(test: TestRuntime): Promise<string[]> {
  const rows = await test.rows<{ reason: string; detail: string }>(
    "SELECT reason, detail FROM downs WHERE ref = 'tools' ORDER BY incarnation",
  );
  return rows.map(({ reason, detail }) => `${reason}: ${detail}`);
}

/** What came from the gateway, or from the supervisor on its account. */
function answers(test: TestRuntime) {
  return test.edge.filter((message) => message.from !== "approval");
}
