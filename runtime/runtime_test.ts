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

Deno.test("an idle actor sleeps, and its next message wakes it with what it had", async () => {
  await withRuntime(async (test) => {
    await test.insert("conversation/a", "test.add", { n: 3 });
    await test.until("it sleeps", () =>
      test.view("conversation/a")?.state === "sleeping" && test.edge.length > 0);
    assert.equal(test.view("conversation/a")?.lastDown?.detail, "idle");

    await test.insert("conversation/a", "test.ask");
    await test.until("it answered", () => test.edge.some((message) => message.type === "test.answer"));

    const answer = test.edge.find((message) => message.type === "test.answer");
    assert.deepEqual(answer?.payload, { total: 3 });
    const woke = test.edge.filter((message) => message.type === "test.heard").map((message) =>
      message.payload
    );
    assert.deepEqual(woke.filter((payload) => Reflect.get(payload ?? {}, "ref") === "conversation/a"), [
      { ref: "conversation/a", type: "actor.woke", payload: { incarnation: 1, crashes: 0 } },
      {
        ref: "conversation/a",
        type: "actor.woke",
        payload: { incarnation: 2, crashes: 0, lastDown: "shutdown" },
      },
    ]);
  }, { limits: { idleMs: 50, tickMs: 20 } });
});

Deno.test("there is no host before the first actor wakes, and none when nobody has lived in it for long", async () => {
  await withRuntime(async (test) => {
    const hosts = () => test.opened.filter(({ entry }) => entry.endsWith("host.ts"));
    const core = hosts().length;
    for (const n of [1, 2]) {
      await test.insert("conversation/a", "test.add", { n: 3 });
      await test.until("it sleeps, and its host is gone", () =>
        hosts().length === core + n && hosts().at(-1)?.ended === true);
      assert.equal(await test.total("conversation/a"), 3 * n);
    }

    assert.equal(core, 1);
  }, { limits: { idleMs: 50, restMs: 200, tickMs: 20 } });
});

Deno.test("a message that races with sleep is handled by the next incarnation", async () => {
  await withRuntime(async (test) => {
    for (let n = 0; n < 40; n++) {
      await test.insert("conversation/a", "test.add", { n: 1 });
      await test.until("it is done", async () => await test.open("conversation/a") === 0);
    }

    assert.equal(await test.total("conversation/a"), 40);
  }, { limits: { idleMs: 1, tickMs: 3 } });
});

Deno.test("more conversations than may live take turns", async () => {
  await withRuntime(async (test) => {
    const refs = ["a", "b", "c", "d", "e", "f"].map((id) => `conversation/${id}`);

    await test.insertAll(refs.map((ref) => [ref, "test.add", { n: 1 }]));
    await test.until("all had their turn", async () => {
      const open = await Promise.all(refs.map((ref) => test.open(ref)));
      return open.every((count) => count === 0);
    });

    const live = test.runtime.actors().filter((actor) =>
      actor.kind === "conversation" && actor.state !== "sleeping"
    );
    assert.ok(live.length <= 2, `${live.length} live`);
  }, { limits: { maxLive: 2 } });
});

Deno.test("control overtakes normal, and nothing is delivered before its time", async () => {
  await withRuntime(async (test) => {
    const at = Date.now() + 400;
    await test.insertAll([
      ["conversation/a", "test.say", { n: 2 }, { notBefore: at }],
      ["conversation/a", "test.say", { n: 1 }],
      ["conversation/a", "test.stop", { n: 0 }],
    ]);
    const said = () =>
      test.edge.filter((message) => Reflect.get(message.payload ?? {}, "type") !== "actor.woke");
    await test.until("the last one came", () => said().length === 3);

    assert.deepEqual(
      said().map((message) => Reflect.get(Reflect.get(message.payload ?? {}, "payload"), "n")),
      [0, 1, 2],
    );
    assert.ok(Date.now() >= at);
  });
});

Deno.test("an alarm that moves replaces the one that waits", async () => {
  await withRuntime(async (test) => {
    const soon = Date.now() + 300;
    await test.insert("conversation/a", "test.add", { n: 1 }, { notBefore: soon, replaces: "alarm" });
    await test.insert("conversation/a", "test.add", { n: 10 }, { notBefore: soon, replaces: "alarm" });

    await test.until("it rang", async () => await test.total("conversation/a") > 0);

    assert.equal(await test.total("conversation/a"), 10);
  });
});

Deno.test("the sender of a refused message is told, and a full mailbox refuses", async () => {
  await withRuntime(async (test) => {
    await test.insert("conversation/a", "test.forward", { to: "nobody", n: 1 });
    await test.insert("conversation/a", "test.forward", { to: "conversation/b", n: 1, times: 30 });

    await test.until("the refusals arrived", () => test.edge.filter(isFailure).length === 11);

    const codes = test.edge.filter(isFailure).map((message) => Reflect.get(failureOf(message), "code"));
    assert.deepEqual(codes, ["unknown_type", ...Array.from({ length: 10 }, () => "mailbox_full")]);
    await test.until("the accepted ones are done", async () => await test.total("conversation/b") === 20);
    assert.equal(test.notes.filter((note) => note.type === "refused").length, 11);
  }, { limits: { mailbox: 20 } });
});

Deno.test("a foreign row that the catalogue refuses is a dead letter, not an exception", async () => {
  await withRuntime(async (test) => {
    await test.insert("conversation/a", "test.secret", { callId: "c1" });
    await test.insert("conversation/a", "test.add", { n: 1 });

    await test.until("the next one is done", async () => await test.total("conversation/a") === 1);

    const letters = await test.rows("SELECT type, reason FROM dead_letters");
    assert.deepEqual(letters, [{ type: "test.secret", reason: "not_allowed" }]);
    const told = test.edge.find((message) => message.type === "request.failed");
    assert.equal(Reflect.get(told?.payload ?? {}, "callId"), "c1");
  });
});

Deno.test("a message to the supervisor is handled once, and one from it is delivered", async () => {
  const heard: string[] = [];
  await withRuntime(async (test) => {
    await test.insert("supervisor", "test.restart", { ref: "conversation/a" });
    await test.until("it was handled", () => heard.length === 1);

    const sent = await test.runtime.send({ to: "conversation/a", type: "test.add", payload: { n: 4 } });
    await test.until("it is done", async () => await test.total("conversation/a") === 4);

    assert.ok(sent.ok);
    assert.equal(await test.open("supervisor"), 0);
  }, { onSupervisor: (message) => void heard.push(message.type) });
});

Deno.test("a stopped runtime leaves no process, and the next one goes on where it was", async () => {
  const folder = await Deno.makeTempDir();
  const first = await TestRuntime.start({ folder });
  await first.insert("conversation/a", "test.add", { n: 1 });
  await first.until("it is done", async () => await first.total("conversation/a") === 1);
  await first.until("all live", () => first.runtime.actors().every((actor) => actor.state === "live"));
  const pids = first.runtime.actors().map((actor) => actor.pid ?? 0);

  await first.stop();
  for (const pid of pids) assert.throws(() => Deno.statSync(`/proc/${pid}`), Deno.errors.NotFound);
  const second = await TestRuntime.start({ folder });
  await second.insert("conversation/a", "test.ask");
  await second.until("it answered", () => second.edge.some((message) => message.type === "test.answer"));
  const downs = await second.rows(
    "SELECT ref, incarnation, reason FROM downs WHERE incarnation = 1 ORDER BY ref",
  );
  await second.stop();

  assert.deepEqual(pids.filter((pid) => pid > 0).length, 3);
  assert.deepEqual(
    downs,
    ["approval", "conversation/a", "tools"].map((ref) => ({ ref, incarnation: 1, reason: "shutdown" })),
  );
  await Deno.remove(folder, { recursive: true });
});

Deno.test("an answer to the edge does not make the next message wait for a look into the database", async () => {
  const folder = await Deno.makeTempDir();
  let looks = 0;
  const test = await TestRuntime.start({
    folder,
    limits: { pollIdleMs: 60_000, pollWaitingMs: 60_000 },
    wrap: (store) => ({
      query: (statement) => store.query(statement),
      queryAll(statements) {
        looks++;
        return store.queryAll(statements);
      },
      batch: (statements) => store.batch(statements),
      commit: (member) => store.commit(member),
      close: () => store.close(),
    }),
  });
  const before = looks;

  for (let count = 1; count <= 5; count++) {
    await test.runtime.send({ to: "conversation/a", type: "test.ask", payload: {} });
    await test.until("it answered", () =>
      test.edge.filter(({ type }) => type === "test.answer").length === count);
  }
  await test.stop();

  assert.equal(looks, before);
  await Deno.remove(folder, { recursive: true });
});

function isFailure(message: { payload: unknown }): boolean {
  return Reflect.get(message.payload ?? {}, "type") === "request.failed";
}

/** What `test.heard` repeats of a `request.failed`. */
function failureOf(message: { payload: unknown }): object {
  return Reflect.get(message.payload ?? {}, "payload");
}
