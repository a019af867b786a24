/**
 * The supervisors of single actors without processes: for the orders of events that a real process meets once in a thousand runs.
 */
import assert from "node:assert/strict";
import { DbError, sql } from "../../store/db.ts";
import { CellDesk, withDesk } from "../../tests/doubles/cell_desk.ts";

Deno.test("what an earlier process of a gateway asked is not answered to the next one, which gets the message as resumed", async () => {
  await withDesk(async (desk) => {
    desk.insert("a", "k");
    await desk.clock.advance(1);
    desk.db.away = true;
    desk.process(0).say({ t: "started", n: 1, id: "a", intent: "first" });
    await desk.clock.advance(1);

    desk.process(0).exit(9);
    await desk.clock.advance(200);
    const early = desk.processes.length;
    desk.db.away = false;
    await desk.clock.advance(2_000);

    const [delivery] = desk.process(1).heard.flatMap((message) =>
      message.t === "deliver" ? message.messages : []
    );
    assert.equal(desk.state("a"), "started");
    assert.equal(early, 1);
    assert.deepEqual([delivery?.resumed, delivery?.intent], [true, "first"]);
    assert.deepEqual(desk.process(1).answers, []);
  });
});

Deno.test("messages of a key keep their order when a crash has made the first of them suspects", async () => {
  await withDesk(async (desk) => {
    for (const id of ["a", "b"]) desk.insert(id, "k");
    await desk.clock.advance(1);
    desk.process(0).exit(9);
    desk.insert("c", "k");
    desk.insert("d", "other");
    await desk.clock.advance(500);

    assert.deepEqual(desk.process(1).delivered, ["a", "d"]);
    for (const id of ["a", "b", "c"]) {
      desk.process(1).say({ t: "done", id });
      await desk.clock.advance(1);
    }
    assert.deepEqual(desk.process(1).delivered, ["a", "d", "b", "c"]);
  });
});

Deno.test("a withdrawn message is not handed over again because the database could not tell that it is", async () => {
  await withDesk(async (desk) => {
    desk.insert("a", "k", { replaces: "alarm" });
    await desk.clock.advance(1);
    desk.insert("b", "other", { replaces: "alarm" });
    await desk.clock.advance(1);
    desk.db.queryFaults.push("lose_request");
    desk.process(0).say({ t: "done", id: "a" });
    await desk.clock.advance(1_000);

    assert.deepEqual(desk.process(0).delivered, ["a", "b"]);
    assert.equal(desk.state("a"), "done");
  });
});

Deno.test("a crash is not the fault of a message whose result is on its way to disk", async () => {
  await withDesk(async (desk) => {
    desk.insert("a", "k", { failures: 2 });
    await desk.clock.advance(1);
    desk.db.away = true;
    desk.process(0).say({ t: "done", id: "a" });
    await desk.clock.advance(1);
    desk.process(0).exit(9);
    await desk.clock.advance(500);
    desk.db.away = false;
    await desk.clock.advance(1_000);

    assert.equal(desk.state("a"), "done");
    assert.deepEqual(desk.process(1).delivered, []);
    assert.equal(desk.database.number("SELECT count(*) FROM dead_letters"), 0);
  });
});

Deno.test("the ends of an actor's lives are written down in their order, also when one has to be tried again", async () => {
  await withDesk(async (desk) => {
    desk.db.batchFaults.push(new DbError("full", "the disk is full"));
    desk.hosts[0]?.exit(9);
    await desk.clock.advance(120);
    desk.hosts[1]?.exit(9);

    for (let waited = 0; waited < 1_000; waited += 50) {
      await desk.clock.advance(50);
      const [row] = desk.database.query(sql(
        `SELECT a.incarnation, count(d.incarnation), coalesce(max(d.incarnation), 0) FROM actors a
         LEFT JOIN downs d ON d.ref = a.ref WHERE a.ref = 'core'`,
      )).rows;
      const [incarnation, count, last] = row ?? [];
      assert.equal(count, last, `${count} ends are known of ${last} at ${waited} ms`);
      assert.ok(
        Number(last) <= Number(incarnation),
        `life ${last} has ended but the actor is at ${incarnation}`,
      );
    }
  });
});

Deno.test("actors whose processes cannot be started wait until they can be", async () => {
  const desk = new CellDesk();
  desk.startsFail = true;
  await desk.runtime.start();
  await desk.clock.advance(1_500);
  const states = desk.runtime.actors().map(({ ref, state }) => [ref, state]);
  desk.startsFail = false;
  await desk.clock.advance(1_500);

  assert.deepEqual(states, [["core", "starting"], ["tools", "starting"]]);
  // The spare of a shared host failed too, and nobody was waiting for it.
  assert.deepEqual([desk.processes.length, desk.hosts.length], [1, 1]);
  assert.deepEqual(desk.runtime.actors().map(({ incarnation }) => incarnation), [1, 1]);
  assert.equal(desk.database.number("SELECT count(*) FROM downs"), 0);
  await desk.close();
});

Deno.test("crashes in a row are told to the next incarnation also after the supervisor was killed, those before its last event not", async () => {
  const desk = new CellDesk();
  const down = (incarnation: number, suspect: boolean, at: number) =>
    sql(
      "INSERT INTO downs (ref, incarnation, reason, detail, suspect, at) VALUES ('guest', ?, 'error', 'it threw', ?, ?)",
      incarnation,
      suspect,
      at,
    );
  desk.database.batch("test", [
    sql(
      "INSERT INTO actors (ref, kind, incarnation, down_reason, down_detail, down_at, created_at, updated_at) VALUES ('guest', 'guest', 5, 'error', 'it threw', 30, 0, 30)",
    ),
    sql("INSERT INTO events (actor, seq, type, payload, at) VALUES ('guest', 1, 'added', '{}', 15)"),
    ...[down(1, true, 10), down(2, true, 20), down(3, false, 25), down(4, true, 30)],
  ]);

  await desk.runtime.start();
  await desk.clock.advance(50);

  const woke = desk.hosts.flatMap(({ heard }) => heard.map((message) => Reflect.get(message, "woke")))
    .find((message) => Reflect.get(message ?? {}, "to") === "guest");
  assert.deepEqual(Reflect.get(woke ?? {}, "payload"), { incarnation: 6, crashes: 2, lastDown: "lost" });
  await desk.close();
});
