/**
 * What must be true of the rows when everything has come to rest: nothing accepted is lost, everything was handled once and in order, every
 * request has its one answer, every incarnation its one `down`. Each check is a query for the rows that break it.
 */
import { sql } from "../../store/db.ts";
import type { Client } from "./client.ts";
import type { MemoryDatabase } from "./database.ts";
import type { Witness } from "./witness.ts";

const isReplaced = `(m.replaces IS NOT NULL AND EXISTS (SELECT 1 FROM messages n
  WHERE n.to_ref = m.to_ref AND n.replaces = m.replaces AND n.seq > m.seq))`;
const isPure = "(m.to_ref LIKE 'conversation/%' OR m.to_ref = 'core')";
// The plus takes the column's type away, without which the index over the events could not be used.
const handled = "(SELECT count(*) FROM events e WHERE e.payload ->> 'message' = +m.id)";
const failures =
  `(SELECT count(*) FROM messages f WHERE f.type = 'request.failed' AND f.payload ->> 'callId' = m.payload ->> 'callId')`;
const replies =
  `(SELECT count(*) FROM messages r WHERE r.type = 'sim.acted' AND r.payload ->> 'callId' = m.payload ->> 'callId')`;

/** Promise and the query for what breaks it. */
const checks: readonly (readonly [string, string])[] = [
  ["nothing stays open", "SELECT id, to_ref, type FROM messages WHERE state IN ('queued', 'started')"],
  [
    "every message of a pure actor is handled once, or dead",
    `SELECT m.id, m.to_ref, m.type, m.state, ${handled} FROM messages m WHERE ${isPure} AND
       ${handled} <> CASE WHEN m.state = 'dead' THEN 0 WHEN ${isReplaced} AND ${handled} = 0 THEN 0 ELSE 1 END`,
  ],
  [
    "every dead message has its dead letter",
    `SELECT m.id, m.state FROM messages m
     WHERE (m.state = 'dead') <> EXISTS (SELECT 1 FROM dead_letters d WHERE d.message_id = m.id)`,
  ],
  [
    "a handler's messages are sent once, or refused once",
    `SELECT c.id, c.sent, c.dead, c.failed FROM (
       SELECT e.payload ->> 'child' AS id,
         (SELECT count(*) FROM messages s WHERE s.payload ->> 'callId' = e.payload ->> 'child'
            AND s.type IN ('sim.work', 'sim.act', 'sim.end')) AS sent,
         (SELECT count(*) FROM messages s WHERE s.payload ->> 'callId' = e.payload ->> 'child'
            AND s.type IN ('sim.work', 'sim.act', 'sim.end') AND s.state = 'dead') AS dead,
         (SELECT count(*) FROM messages f WHERE f.payload ->> 'callId' = e.payload ->> 'child'
            AND f.type = 'request.failed' AND f.to_ref = e.actor) AS failed
       FROM events e WHERE e.payload ->> 'child' IS NOT NULL) c
     WHERE NOT (c.sent = 1 AND c.failed = c.dead OR c.sent = 0 AND c.failed = 1)`,
  ],
  [
    "every act has one reply, or one failure",
    `SELECT m.id, m.state, ${replies}, ${failures} FROM messages m WHERE m.type = 'sim.act' AND m.to_ref = 'world'
       AND ${replies} + ${failures} <> CASE WHEN ${isReplaced} AND ${replies} + ${failures} = 0 THEN 0 ELSE 1 END`,
  ],
  [
    "an operation commits with its event",
    `SELECT e.actor, count(*), (SELECT value FROM settings WHERE key = 'count ' || e.actor) FROM events e GROUP BY e.actor
     HAVING count(*) <> CAST((SELECT value FROM settings WHERE key = 'count ' || e.actor) AS INTEGER)`,
  ],
  [
    "a log has no gap",
    "SELECT actor, count(*), max(seq) FROM events GROUP BY actor HAVING count(*) <> max(seq) OR min(seq) <> 1",
  ],
  [
    "an actor handles its normal messages in order",
    `SELECT actor, seq, message_seq FROM (
       SELECT e.actor, e.seq, m.seq AS message_seq, lag(m.seq) OVER (PARTITION BY e.actor ORDER BY e.seq) AS before
       FROM events e JOIN messages m ON m.id = e.payload ->> 'message' WHERE m.lane = 1 AND m.not_before IS NULL)
     WHERE before IS NOT NULL AND message_seq <= before`,
  ],
  [
    "every incarnation has one down",
    `SELECT a.ref, a.incarnation, count(d.incarnation), max(d.incarnation) FROM actors a LEFT JOIN downs d ON d.ref = a.ref
     GROUP BY a.ref HAVING count(d.incarnation) <> a.incarnation OR max(d.incarnation) <> a.incarnation`,
  ],
];

/** Checks all rows; tells the witness of the first broken promise. */
export function checkRows(database: MemoryDatabase, client: Client, witness: Witness): void {
  for (const [promise, text] of checks) {
    const { rows } = database.query(sql(text));
    if (rows.length > 0) {
      witness.broken(promise, `${rows.length} rows, first ${JSON.stringify(rows.slice(0, 3))}`);
    }
  }
  const known = column(database, "SELECT id FROM messages");
  for (const id of client.accepted) if (!known.has(id)) witness.broken("nothing accepted is lost", id);
  const dedupes = column(database, "SELECT dedupe FROM messages WHERE dedupe IS NOT NULL");
  for (const text of client.dedupes) if (!dedupes.has(text)) witness.broken("nothing accepted is lost", text);
  const acts = database.query(
    sql(
      `SELECT m.id, ${isReplaced}, ${replies} + ${failures} FROM messages m WHERE m.type = 'sim.act' AND m.state = 'done'`,
    ),
  );
  for (const [id, replaced, answers] of acts.rows) {
    const effects = witness.effects(String(id));
    const wanted = replaced === 1 && answers === 0 ? 0 : 1;
    if (effects !== wanted) witness.broken("every effect happens once", `message ${id}: ${effects} effects`);
  }
}

function column(database: MemoryDatabase, text: string): Set<string> {
  return new Set(database.query(sql(text)).rows.map(([value]) => String(value)));
}
