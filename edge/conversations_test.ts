/** Proves that writing to a conversation is one durable message, and what is read of conversations and actors. */
import assert from "node:assert/strict";
import { ModelsConfig } from "../actors/models/config.ts";
import { modelRefusal } from "../composition/providers.ts";
import type { Db } from "../store/db.ts";
import { opStatements } from "../store/ops.ts";
import { withBench } from "../tests/doubles/edge_bench.ts";
import type { ActorView } from "./api.ts";
import { createApp } from "./app.ts";
import { MAILBOX_LIMIT } from "./outbox.ts";

Deno.test("a new web chat is one durable message, and is shown before anybody has handled it", () =>
  withBench(async (bench) => {
    const owner = await bench.owner();

    const answer = await owner.post("/api/conversations", { text: "  What is here?  " });

    assert.equal(answer.status, 202);
    const { id, conversation } = await answer.json();
    const [message, ...others] = await bench.rows<Record<string, unknown>>("SELECT * FROM messages");
    assert.equal(others.length, 0);
    assert.equal(message?.id, id);
    assert.equal(message?.to_ref, `conversation/${conversation}`);
    assert.equal(message?.from_ref, "edge");
    assert.deepEqual(JSON.parse(String(message?.payload)), {
      text: "What is here?",
      author: { kind: "web", id: "owner", name: "Owner" },
      mode: "queue",
      source: { kind: "web" },
      addressed: true,
    });
    assert.deepEqual(bench.rung, [`conversation/${conversation}`]);
    const shown = await (await owner.get(`/api/conversations/${conversation}`)).json();
    assert.equal(shown.title, "What is here?");
    assert.equal(
      (await owner.post(`/api/conversations/${conversation}/messages`, { text: "and?" })).status,
      202,
    );
    const events = await (await owner.get(`/api/conversations/${conversation}/events`)).json();
    assert.deepEqual(events, { events: [] });
  }));

Deno.test("a new web chat is found also at the moment when its first message is handled", () =>
  withBench(async (bench) => {
    const begun = await (await (await bench.owner()).post("/api/conversations", { text: "hello" })).json();
    let handled = false;
    const db: Db = {
      queryAll: (statements) => bench.db.queryAll(statements),
      batch: (statements) => bench.db.batch(statements),
      close: () => Promise.resolve(),
      query: async (statement) => {
        const rows = await bench.db.query(statement);
        if (!handled && statement.sql.includes("FROM conversations")) {
          handled = true;
          await bench.conversation(begun.conversation);
          await bench.run("UPDATE messages SET state = 'done', done_at = 1");
        }
        return rows;
      },
    };
    bench.app = createApp(bench.deps({ deps: { db } }));

    const shown = await (await bench.owner()).get(`/api/conversations/${begun.conversation}/events`);

    assert.equal(handled, true);
    assert.equal(shown.status, 200);
  }));

Deno.test("a message sent again under one client id is one message", () =>
  withBench(async (bench) => {
    await bench.conversation("c1");
    const owner = await bench.owner();
    const body = { text: "once", clientId: "client-id-1" };

    const answers = await Promise.all(
      [1, 2, 3].map(() => owner.post("/api/conversations/c1/messages", body)),
    );

    const ids = await Promise.all(answers.map(async (answer) => (await answer.json()).id));
    assert.equal(new Set(ids).size, 1);
    assert.equal((await bench.rows("SELECT 1 FROM messages")).length, 1);
    const other = await bench.person("approver");
    await other.post("/api/conversations/c1/messages", body);
    assert.equal((await bench.rows("SELECT 1 FROM messages")).length, 2);
  }));

Deno.test("a full mailbox refuses a message, but never a stop", () =>
  withBench(async (bench) => {
    await bench.conversation("c1");
    await bench.run(
      `INSERT INTO messages (id, v, to_ref, from_ref, type, lane, payload, at)
       WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
       SELECT 'fill-' || i, 1, 'conversation/c1', 'zulip', 'conversation.message', 1, '{}', 1 FROM n`,
      BigInt(MAILBOX_LIMIT),
    );
    const owner = await bench.owner();

    const full = await owner.post("/api/conversations/c1/messages", { text: "one more" });

    assert.equal(full.status, 429);
    assert.equal((await full.json()).error.code, "mailbox_full");
    assert.equal((await owner.post("/api/conversations/c1/stop")).status, 202);
  }));

Deno.test("stop, reset and model become the conversation's own messages", () =>
  withBench(async (bench) => {
    await bench.conversation("c1");
    const owner = await bench.owner();

    await owner.post("/api/conversations/c1/stop", { turnId: "t1" });
    await owner.post("/api/conversations/c1/reset");
    await owner.post("/api/conversations/c1/model", { model: "openai/gpt" });

    const sent = await bench.rows<{ type: string; lane: number; payload: string }>(
      "SELECT * FROM messages ORDER BY seq",
    );
    const by = { kind: "web", id: "owner", name: "Owner" };
    assert.deepEqual(sent.map(({ type, lane, payload }) => ({ type, lane, payload: JSON.parse(payload) })), [
      { type: "conversation.stop", lane: 0, payload: { by, turnId: "t1" } },
      { type: "conversation.reset", lane: 1, payload: { by } },
      { type: "conversation.set_model", lane: 1, payload: { by, model: "openai/gpt" } },
    ]);
    assert.equal((await owner.post("/api/conversations/c1/model", { model: "no provider" })).status, 400);
    assert.equal(
      (await owner.post("/api/conversations/c1/messages", { text: "x", mode: "now" })).status,
      400,
    );
    assert.equal((await owner.post("/api/conversations/c1/messages", { text: "   " })).status, 400);
  }));

Deno.test("a model that cannot be used is refused with what can be, and nothing is sent", () =>
  withBench(
    async (bench) => {
      await bench.conversation("c1");
      const owner = await bench.owner();
      const choose = async (model: string) => await owner.post("/api/conversations/c1/model", { model });

      const refused = await choose("openai/gpt");
      assert.equal(refused.status, 400);
      assert.match((await refused.json()).error.message, /needs `OPENAI_API_KEY`/);
      assert.equal(
        (await bench.rows("SELECT 1 FROM messages WHERE type = 'conversation.set_model'")).length,
        0,
      );
      assert.equal((await choose("ollama/any")).status, 202);
      const profile = { name: "P", model: "openai/gpt" };
      assert.equal((await owner.post("/api/profiles", profile)).status, 400);
      assert.equal((await owner.send("PATCH", "/api/profiles/default", profile)).status, 400);
    },
    { deps: { modelRefusal: modelRefusal(ModelsConfig.parse({}), undefined) } },
  ));

Deno.test("a transcript pages through its events in order, JSON parsed", () =>
  withBench(async (bench) => {
    await bench.conversation("c1");
    for (let seq = 1; seq <= 5; seq++) {
      await bench.run(
        "INSERT INTO events VALUES ('conversation/c1', ?, 'user_message', ?, 9)",
        BigInt(seq),
        `{"n":${seq}}`,
      );
    }
    const owner = await bench.owner();

    const first = await (await owner.get("/api/conversations/c1/events?limit=3")).json();
    const rest = await (await owner.get(`/api/conversations/c1/events?limit=3&after=${first.next}`)).json();

    assert.deepEqual(first.events[0], { seq: 1, type: "user_message", at: 9, payload: { n: 1 } });
    assert.deepEqual([...first.events, ...rest.events].map((event) => event.seq), [1, 2, 3, 4, 5]);
    assert.equal(rest.next, undefined);
    assert.equal((await owner.get("/api/conversations/c1/events?after=-1")).status, 400);
  }));

Deno.test("conversations page by their last change without a repeat or a hole", () =>
  withBench(async (bench) => {
    for (let index = 0; index < 5; index++) await bench.conversation(`c${index}`);
    await bench.run("UPDATE conversations SET updated_at = 2 WHERE id IN ('c1', 'c3')");
    const owner = await bench.owner();

    const first = await (await owner.get("/api/conversations?limit=3")).json();
    const rest = await (await owner.get(`/api/conversations?limit=3&after=${first.next}`)).json();

    const ids = [...first.conversations, ...rest.conversations].map((each) => each.id);
    assert.deepEqual(ids, ["c3", "c1", "c4", "c2", "c0"]);
    assert.equal((await owner.get("/api/conversations?after=nonsense")).status, 400);
  }));

Deno.test("a search looks in title, topic and preview of everything one may see, for every word as it stands", () =>
  withBench(async (bench) => {
    const owner = await bench.owner();
    for (const id of ["c1", "c2", "c3"]) await bench.conversation(id);
    await bench.conversation("hidden", 9);
    await bench.run(
      "UPDATE conversations SET title = 'Harvest 100%', preview = 'wheat_and rye' WHERE id = 'c1'",
    );
    await bench.run(
      "UPDATE conversations SET title = 'Harvest 1000', preview = 'wheat and rye' WHERE id = 'c2'",
    );
    await bench.run("UPDATE conversations SET title = 'Harvest of secrets' WHERE id = 'hidden'");
    const found = async (as: typeof owner, q: string) => {
      const list = await (await as.get(`/api/conversations?limit=50&q=${encodeURIComponent(q)}`)).json();
      return list.conversations.map(({ id }: { id: string }) => id).sort();
    };

    assert.deepEqual(await found(owner, "harvest RYE"), ["c1", "c2"]);
    assert.deepEqual(await found(owner, "100%"), ["c1"]);
    assert.deepEqual(await found(owner, "wheat_and"), ["c1"]);
    assert.deepEqual(await found(owner, "harvest barley"), []);
    assert.deepEqual(await found(owner, "secrets"), ["hidden"]);
    const viewer = await bench.person("viewer");
    assert.deepEqual(await found(viewer, "secrets"), []);
  }));

Deno.test("actors by rows show mailbox, last death and that the supervisor is away", () =>
  withBench(async (bench) => {
    await bench.conversation("c1");
    await bench.run(
      `INSERT INTO actors (ref, kind, incarnation, restarts, down_reason, down_at, parked_at, parked_reason, created_at, updated_at)
       VALUES ('conversation/c1', 'conversation', 4, 3, 'oom', 5, 6, 'too often', 1, 1)`,
    );
    const owner = await bench.owner();
    await owner.post("/api/conversations/c1/messages", { text: "hello" });
    await bench.clock.advance(1_500);

    const { actors, source, supervisor } = await (await owner.get("/api/actors")).json();

    assert.equal(source, "rows");
    assert.deepEqual(supervisor, { away: true });
    assert.deepEqual(actors, [{
      ref: "conversation/c1",
      kind: "conversation",
      state: "parked",
      incarnation: 4,
      mailbox: { control: 0, normal: 1, oldestMs: 1_500 },
      restarts: 3,
      lastDown: { reason: "oom", at: 5 },
      parkedReason: "too often",
      title: "Title of c1",
    }]);
  }));

const liveActors: readonly ActorView[] = ["approval", "conversation/c1", "conversation/hidden"].map((
  ref,
) => ({
  ref,
  kind: ref.split("/")[0] ?? "",
  state: "live",
  host: "pure-1",
  pid: 42,
  mailbox: { control: 0, normal: 0, oldestMs: 0 },
  restarts: 0,
}));

Deno.test("actors in one process come from the supervisor, and still only those one may see", () =>
  withBench(async (bench) => {
    await bench.conversation("c1");
    await bench.lease();
    const viewer = await bench.person("viewer");

    const { actors, source, supervisor } = await (await viewer.get("/api/actors")).json();

    assert.equal(source, "live");
    assert.equal(supervisor.away, false);
    assert.deepEqual(actors.map((actor: ActorView) => [actor.ref, actor.pid]), [["approval", 42], [
      "conversation/c1",
      42,
    ]]);
  }, { deps: { actors: () => liveActors } }));

Deno.test("restarting an actor asks the supervisor", () =>
  withBench(async (bench) => {
    const owner = await bench.owner();

    const answer = await owner.post("/api/actors/toolbox/restart");

    assert.equal(answer.status, 202);
    const [message] = await bench.rows<{ id: string; to_ref: string; type: string; payload: string }>(
      "SELECT * FROM messages",
    );
    assert.equal(message?.id, (await answer.json()).command);
    assert.equal(message?.to_ref, "supervisor");
    assert.equal(message?.type, "actor.restart");
    assert.equal(JSON.parse(message?.payload ?? "").ref, "toolbox");
  }));

Deno.test("an actor that is not configured, or a conversation that never was, is not restarted", () =>
  withBench(async (bench) => {
    const owner = await bench.owner();
    await bench.conversation("c1");

    const statuses = [];
    for (const ref of ["approval", "zulip", "conversation%2Fc1", "conversation%2Fnone"]) {
      statuses.push((await owner.post(`/api/actors/${ref}/restart`)).status);
    }

    assert.deepEqual(statuses, [202, 404, 202, 404]);
  }, { deps: { actors: () => liveActors } }));

Deno.test("a renamed topic is the chat's and its items' title at once, and the stream is told", () =>
  withBench(async (bench) => {
    const zulip = { ref: "zulip", kind: "zulip", id: "zulip", now: 5 } as const;
    const run = async (op: Record<string, unknown>) => {
      const statements = opStatements({ conversation: "c1", channelId: 3, ...op }, zulip);
      assert.ok(statements.ok);
      await bench.db.batch(statements.value);
    };
    const owner = await bench.owner();
    await bench.conversation("c1");
    await bench.run("UPDATE conversations SET title = 'ops > old name' WHERE id = 'c1'");
    await bench.item("i1", "c1");
    await run({
      op: "topic.put",
      realm: "r",
      kind: "channel",
      topicKey: "old name",
      topic: "old name",
      userIds: null,
    });

    await run({ op: "topic.move", topicKey: "new > name", topic: "new > name" });

    assert.equal((await (await owner.get("/api/conversations/c1")).json()).title, "ops > new > name");
    assert.equal((await (await owner.get("/api/inbox/i1")).json()).conversation.title, "ops > new > name");
    const fed = await bench.rows<{ ref: string }>("SELECT ref FROM feed WHERE kind = 'conversation'");
    assert.deepEqual(fed.map(({ ref }) => ref), ["c1"]);
  }));
