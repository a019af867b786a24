import assert from "node:assert/strict";
import type { Store } from "../store/store.ts";
import { downs, pidOf, withRuntime } from "../tests/doubles/fault_bench.ts";
import type { CommitStore } from "./vocabulary.ts";

Deno.test("a killed host loses nothing and does nothing twice", async () => {
  await withRuntime(async (test) => {
    const rows = Array.from(
      { length: 600 },
      (_, n) => [`conversation/${"abc"[n % 3]}`, "test.add", { n: 1 }] as const,
    );
    await test.insertAll(rows.slice(0, 100).map((row) => [...row]));
    const pid = await pidOf(test, "conversation/a");
    await test.insertAll(rows.slice(100).map((row) => [...row]));

    Deno.kill(pid, "SIGKILL");

    await test.until("all are done", async () => {
      const open = await Promise.all(["a", "b", "c"].map((id) => test.open(`conversation/${id}`)));
      return open.every((count) => count === 0);
    });
    for (const id of ["a", "b", "c"]) assert.equal(await test.total(`conversation/${id}`), 200);
    await test.until("three ends are written down", async () => (await downs(test)).length === 3);
    assert.ok((await downs(test)).every((down) => down.reason === "lost" && down.suspect === 0));
  });
});

Deno.test("an uncaught throw ends its actor only, and three of one message are enough", async () => {
  await withRuntime(async (test) => {
    await test.insert("conversation/b", "test.add", { n: 1 });
    const pid = await pidOf(test, "conversation/b");
    const poison = await test.insert("conversation/a", "test.fault", { fault: "throw" });
    await test.insert("conversation/a", "test.add", { n: 7 });

    await test.until("the next message is done", async () => await test.total("conversation/a") === 7);

    const letters = await test.rows("SELECT message_id, reason, failures FROM dead_letters");
    assert.deepEqual(letters, [{ message_id: poison, reason: "poison", failures: 3 }]);
    const told = test.edge.find((message) => message.type === "request.failed");
    assert.deepEqual([told?.from, Reflect.get(told?.payload ?? {}, "request")], ["supervisor", poison]);
    assert.equal(test.notes.filter((note) => note.type === "poison").length, 1);
    assert.equal(await pidOf(test, "conversation/b"), pid);
    const ends = (await downs(test)).map((down) => [down.ref, down.incarnation, down.reason, down.suspect]);
    assert.deepEqual(ends, [1, 2, 3].map((incarnation) => ["conversation/a", incarnation, "error", 1]));
  });
});

Deno.test("an endless loop kills its host, and only the suspect is punished", async () => {
  await withRuntime(async (test) => {
    await test.insertAll([["conversation/b", "test.add", { n: 1 }], ["conversation/a", "test.add", {
      n: 1,
    }]]);
    await pidOf(test, "conversation/b");
    await pidOf(test, "conversation/a");
    await test.insert("conversation/a", "test.fault", { fault: "loop" });
    await test.until("the host was killed", async () => (await downs(test)).length >= 2);
    await test.insert("conversation/b", "test.add", { n: 5 });

    await test.until("the neighbour goes on", async () => await test.total("conversation/b") === 6);

    const ends = (await downs(test)).map((down) => [down.ref, down.reason, down.suspect]).toSorted();
    assert.deepEqual(ends.slice(0, 2), [["conversation/a", "hang", 1], ["conversation/b", "lost", 0]]);
    await test.until("both live", () =>
      ["a", "b"].every((id) => test.view(`conversation/${id}`)?.state === "live"));
    assert.notEqual(test.view("conversation/a")?.host, test.view("conversation/b")?.host);
  });
});

Deno.test("a message is not blamed for the loop of another one that came with it", async () => {
  await withRuntime(async (test) => {
    await test.insert("conversation/a", "test.add", { n: 1 });
    await pidOf(test, "conversation/a");
    await test.insertAll([
      ["conversation/a", "test.add", { n: 2 }],
      ["conversation/a", "test.fault", { fault: "loop", crashes: 1 }],
      ["conversation/a", "test.add", { n: 4 }],
    ]);

    await test.until("all are done", async () => await test.total("conversation/a") === 7);

    assert.deepEqual((await downs(test)).map(({ reason, suspect }) => [reason, suspect]), [["hang", 1]]);
    assert.deepEqual(await test.rows("SELECT id FROM messages WHERE failures > 0"), []);
  });
});

Deno.test("a full heap ends with the guilty actor in a host of its own", async () => {
  await withRuntime(async (test) => {
    await test.insert("conversation/b", "test.add", { n: 1 });
    await pidOf(test, "conversation/b");
    const [guilty, next] = await test.insertAll([
      ["conversation/a", "test.fault", { fault: "heap" }],
      ["conversation/a", "test.add", { n: 7 }],
    ]);

    await test.until("the next message is done", async () => await test.total("conversation/a") === 7);

    assert.equal(await test.total("conversation/b"), 1);
    const ends = await downs(test);
    // The first time both were in hand, and neither is blamed.
    const expected = Array.from({ length: 4 }, () => ["conversation/a", "oom"]);
    assert.deepEqual(ends.filter((down) => down.suspect).map((down) => [down.ref, down.reason]), expected);
    const failures = await test.rows(
      "SELECT id, failures FROM messages WHERE to_ref = 'conversation/a' ORDER BY seq",
    );
    assert.deepEqual(failures, [{ id: guilty, failures: 3 }, { id: next, failures: 0 }]);
    assert.equal(ends.filter((down) => down.ref === "conversation/b").length, 1);
  });
});

Deno.test("a Worker that closes itself is an exit", async () => {
  await withRuntime(async (test) => {
    await test.insert("conversation/a", "test.fault", { fault: "close" });

    await test.until("its end is written down", async () => (await downs(test)).length > 0);

    assert.deepEqual((await downs(test))[0], {
      ref: "conversation/a",
      incarnation: 1,
      reason: "exit",
      suspect: 1,
    });
  });
});

Deno.test("a hostile Worker reaches nothing and speaks for nobody else", async () => {
  await withRuntime(async (test) => {
    await test.insert("conversation/b", "test.add", { n: 1 });
    await pidOf(test, "conversation/b");
    const stolen = await test.insert("conversation/b", "test.add", { n: 1 }, {
      notBefore: Date.now() + 3_600_000,
    });
    await test.insert("conversation/a", "test.fault", { fault: "hostile", neighbour: stolen });

    await test.until("it told what it found", () => test.log.some((line) => line.text.startsWith("found")));
    await test.until("it was ended", async () => (await downs(test)).length > 0);

    assert.equal(test.log.find((line) => line.text.startsWith("found"))?.text, "found []");
    assert.ok(
      test.log.some((line) =>
        line.text === "a line on the console" && line.facts["ref"] === "conversation/a"
      ),
    );
    assert.deepEqual((await downs(test)).map((down) => [down.ref, down.reason]), [[
      "conversation/a",
      "error",
    ]]);
    assert.equal(await test.open("conversation/b"), 1);
    assert.equal(test.view("conversation/b")?.state, "live");
  });
});

Deno.test("an actor that crashes too often is parked with its mail until a person restarts it", async () => {
  await withRuntime(async (test) => {
    await test.insertAll(Array.from({ length: 4 }, () => ["conversation/a", "test.gap", {}]));
    await test.until("it is parked", () => test.view("conversation/a")?.state === "parked");
    assert.equal(await test.open("conversation/a"), 4);
    assert.ok(test.notes.some((note) => note.type === "parked"));

    test.runtime.restart("conversation/a");

    await test.until("it tries again", async () => (await downs(test)).length > 3);
  }, { limits: { poisonAfter: 99, restart: { intensity: 2, windowMs: 60_000, baseMs: 1, capMs: 1 } } });
});

Deno.test("a message that was withdrawn while in hand is not handled, and nobody is blamed", async () => {
  let stall = Promise.resolve();
  const gate = Promise.withResolvers<void>();
  await withRuntime(async (test) => {
    await test.insert("conversation/a", "test.add", { n: 1 });
    await test.until("it is done", async () => await test.total("conversation/a") === 1);
    stall = gate.promise;
    await test.insert("conversation/a", "test.add", { n: 10 }, { replaces: "alarm" });
    await test.until("it is in hand", () => test.view("conversation/a")?.mailbox.normal === 1);

    await test.insert("conversation/a", "test.add", { n: 100 }, { replaces: "alarm" });
    gate.resolve();
    await test.until("the newer one is done", async () => await test.total("conversation/a") > 1);

    assert.equal(await test.total("conversation/a"), 101);
    assert.deepEqual((await downs(test)).map((down) => [down.reason, down.suspect]), [["lost", 0]]);
  }, { wrap: (store) => stalling(store, () => stall) });
});

Deno.test("a store that stalls for six seconds kills nobody who may be silent for five", async () => {
  let stall = Promise.resolve();
  const { promise, resolve } = Promise.withResolvers<void>();
  await withRuntime(async (test) => {
    await test.insert("conversation/a", "test.add", { n: 1 });
    const pid = await pidOf(test, "conversation/a");
    stall = promise;
    await test.insert("conversation/a", "test.add", { n: 1 });
    // Real beats of real Workers have to be missing or not: only time tells.
    await new Promise((done) => setTimeout(done, 6_000));
    resolve();

    await test.until("it went on", async () => await test.total("conversation/a") === 2);

    assert.equal(await pidOf(test, "conversation/a"), pid);
    assert.deepEqual(await downs(test), []);
  }, {
    limits: { hangMs: 5_000 },
    wrap: (store) => stalling(store, () => stall),
  });
});

/** A store whose commits wait for a promise. */
function stalling(store: Store, stall: () => Promise<void>): CommitStore {
  return {
    query: (statement) => store.query(statement),
    queryAll: (statements) => store.queryAll(statements),
    batch: (statements) => store.batch(statements),
    close: () => store.close(),
    commit: (member) => stall().then(() => store.commit(member)),
  };
}
