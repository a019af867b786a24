import assert from "node:assert/strict";
import { inspect } from "./inspect.ts";
import { type Db, sql } from "./store/db.ts";
import { bootstrap } from "./store/migrate.ts";
import { openDb } from "./store/open.ts";

const NOW = 1_800_000_000_000;

async function withDb(test: (db: Db) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "callboard-inspect-" });
  const db = await openDb({ url: `file:${folder}/test.db` });
  try {
    await bootstrap(db);
    await db.batch([
      sql(
        `INSERT INTO actors (ref, kind, incarnation, restarts, down_reason, down_at, created_at, updated_at)
         VALUES ('conversation/a', 'conversation', 3, 2, 'oom', ?, ?, ?)`,
        NOW - 9_000,
        NOW,
        NOW,
      ),
      sql(
        `INSERT INTO messages (id, v, to_ref, from_ref, type, lane, payload, at, failures)
         VALUES ('m1', 1, 'conversation/a', 'zulip', 'conversation.message', 1, '{}', ?, 2)`,
        NOW - 5_000,
      ),
      sql(
        `INSERT INTO events (actor, seq, type, payload, at) VALUES ('conversation/a', 1, 'turn_started', '{"text":"a\u202eb"}', ?)`,
        NOW,
      ),
      sql(
        `INSERT INTO downs (ref, incarnation, reason, detail, suspect, at) VALUES ('conversation/a', 2, 'oom', 'heap', 1, ?)`,
        NOW,
      ),
      sql(
        `INSERT INTO dead_letters (message_id, to_ref, from_ref, type, reason, failures, at)
         VALUES ('m0', 'conversation/a', 'models', 'model.reply', 'poison', 3, ?)`,
        NOW,
      ),
    ]);
    await test(db);
  } finally {
    await db.close();
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("inspect shows an actor's row, mailbox, events, ends and dead letters while nobody runs it", () =>
  withDb(async (db) => {
    const result = await inspect(db, "conversation/a", NOW);

    assert.ok(result.ok);
    for (
      const part of [
        /not live; no supervisor is at work/,
        /incarnation 3, 2 restarts/,
        /normal {3}queued {3}conversation\.message from zulip, 5 s, failed 2 × {2}\(m1\)/,
        /1 .* turn_started/,
        /#2 .* oom \(its own fault\) {2}heap/,
        /model\.reply {2}poison {2}open/,
      ]
    ) assert.match(result.value, part);
    assert.doesNotMatch(result.value, /\u202e/);
  }));

Deno.test("inspect says live only while a supervisor holds the lease", () =>
  withDb(async (db) => {
    await db.batch([
      sql(
        "INSERT INTO leases (name, holder, fence, expires_at) VALUES ('supervisor', 'host 12', 1, ?)",
        2 ** 45,
      ),
    ]);

    const result = await inspect(db, "conversation/a", NOW);

    assert.match(result.ok ? result.value : "", /live; the supervisor is at work \(host 12\)/);
  }));

Deno.test("inspect of a ref that names nothing says what a ref is, of one that never ran which did", () =>
  withDb(async (db) => {
    const wrong = await inspect(db, "conversations/a", NOW);
    const absent = await inspect(db, "conversation/b", NOW);

    assert.match(wrong.ok ? "" : wrong.error.message, /names no actor.*conversation\/<id>.*approval/);
    assert.match(absent.ok ? "" : absent.error.message, /never ran.*\n.*\n\s+conversation\/a/);
  }));
