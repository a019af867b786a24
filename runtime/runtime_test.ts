import assert from "node:assert/strict";
import { type TestOptions, TestRuntime } from "../tests/doubles/test_runtime.ts";

/** Runs `body` on a runtime over a fresh database, and stops it. */
async function withRuntime(
  body: (test: TestRuntime, folder: string) => Promise<void>,
  options: Omit<TestOptions, "folder"> = {},
): Promise<void> {
  const folder = await Deno.makeTempDir();
  const test = await TestRuntime.start({ folder, ...options });
  try {
    await body(test, folder);
  } finally {
    await test.stop();
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("an actor handles every message once and in order", async () => {
  await withRuntime(async (test) => {
    await test.insertAll(Array.from({ length: 200 }, (_, n) => ["conversation/a", "test.add", { n }]));

    await test.until("all are done", async () => await test.open("conversation/a") === 0);

    const events = await test.rows<{ seq: number; n: number }>(
      "SELECT seq, payload ->> 'n' AS n FROM events WHERE actor = 'conversation/a' ORDER BY seq",
    );
    assert.deepEqual(events.map((event) => event.n), Array.from({ length: 200 }, (_, n) => n));
    assert.equal(test.view("conversation/a")?.state, "live");
  });
});

Deno.test("a gateway commits started, then done with its answer", async () => {
  await withRuntime(async (test) => {
    await test.insert("tools", "test.act", { key: "k", n: 1 });
    await test.insert("tools", "test.read", { key: "k", n: 4 });

    await test.until("it answered both", () => test.edge.length === 2);

    assert.deepEqual(test.edge.map((message) => message.payload), [
      { key: "k", n: 1, resumed: false, intent: null, mayAct: true },
      { value: { twice: 8 }, config: { secret: "only for tools" } },
    ]);
    assert.equal(await test.open("tools"), 0);
  });
});
