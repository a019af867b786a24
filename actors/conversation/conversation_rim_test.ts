/**
 * The conversation's two rims: what it stores comes back from a real database, and what its Worker loads is one small bundle.
 */
import assert from "node:assert/strict";
import * as esbuild from "esbuild";
import { type Op, opStatements } from "../../store/ops.ts";
import { objects, sql } from "../../store/db.ts";
import { loadConversation } from "../../store/loads/conversation.ts";
import { bootstrap } from "../../store/migrate.ts";
import { openNativeDb } from "../../store/native_db.ts";
import { call, Desk, durable, text } from "../../tests/doubles/conversation_desk.ts";
import { conversation } from "./conversation.ts";

/** What a Worker may cost to load, in bytes, before minification. */
const BUDGET = 120 * 1024;

Deno.test("a conversation comes back from the database as it was", async () => {
  const desk = new Desk();
  desk.say("deploy it");
  desk.tools({ name: "exec_command" });
  desk.finish([text("Looking."), call("exec_command")], "tool_use");
  const db = await openNativeDb({ url: ":memory:" });
  try {
    await bootstrap(db);
    const context = { ref: desk.ref, kind: "conversation", id: "c1", now: desk.now };
    const ops = desk.ops.flatMap((op) => {
      const statements = opStatements(op, context);
      return statements.ok ? statements.value : assert.fail(statements.error.message);
    });
    const events = desk.events.map((event) =>
      sql(
        "INSERT INTO events (actor, seq, type, payload, at) VALUES (?, ?, ?, ?, ?)",
        desk.ref,
        event.seq,
        event.type,
        JSON.stringify(event.payload),
        event.at,
      )
    );
    await db.batch([
      ...ops,
      ...events,
      sql("INSERT INTO settings VALUES ('default_model', 'acme/large', 0)"),
    ]);

    const restored = conversation.restore(await loadConversation(db, "c1"), desk.ref);
    const row = objects(await db.query(sql("SELECT * FROM conversations")))[0];
    const calls = objects<{ id: string; state: string }>(await db.query(sql("SELECT * FROM tool_calls")));

    assert.deepEqual(durable(restored), durable(desk.state));
    assert.deepEqual(row, {
      id: "c1",
      title: "deploy it",
      source: "channel",
      channel_id: 3,
      profile: "default",
      model: null,
      status: "running",
      turns: 1,
      input_tokens: 13,
      output_tokens: 5,
      cost_usd: 0.5,
      preview: "deploy it",
      created_at: desk.now,
      updated_at: desk.now,
      archived_at: null,
    });
    assert.deepEqual(calls.map(({ id, state }) => [id.endsWith(".0.0"), state]), [[true, "proposed"]]);
  } finally {
    await db.close();
  }
});

Deno.test("a conversation that nobody has written to loads as an empty one", async () => {
  const db = await openNativeDb({ url: ":memory:" });
  try {
    await bootstrap(db);

    assert.deepEqual(await loadConversation(db, "c1"), {
      row: null,
      events: [],
      defaults: { model: "callboard/rehearsal" },
    });
  } finally {
    await db.close();
  }
});

Deno.test("no actor but a conversation may touch a conversation's row", () => {
  const op: Op = { op: "conversation.update", status: "idle" };
  for (const kind of ["approval", "zulip", "toolbox"]) {
    assert.equal(opStatements(op, { ref: kind, kind, id: kind, now: 0 }).ok, false);
  }
});

Deno.test({
  name: "the Worker bundle is small and holds no node builtin, no schema library and nothing else of npm",
  // esbuild's child process ends a moment after `stop()` has returned, and offers nothing to wait for.
  sanitizeOps: false,
  sanitizeResources: false,
  fn: async () => {
    const built = await esbuild.build({
      entryPoints: [new URL("main.ts", import.meta.url).pathname],
      bundle: true,
      format: "esm",
      platform: "neutral",
      target: "esnext",
      write: false,
      metafile: true,
      logLevel: "silent",
    }).finally(() => esbuild.stop());
    const code = built.outputFiles[0]?.text ?? assert.fail("esbuild wrote nothing");

    assert.ok(code.length < BUDGET, `${code.length} characters`);
    assert.ok(code.includes("task_complete"), "the actor is in it");
    assert.ok(!/["']node:/.test(code));
    assert.deepEqual(Object.keys(built.metafile.inputs).filter((path) => path.includes("node_modules")), []);
  },
});
