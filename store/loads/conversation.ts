/**
 * What a conversation restores itself from: its row, its whole event log in order, and the installation's default model.
 */
import { objects, sql } from "../db.ts";
import type { Load } from "../read.ts";

/** The rehearsal model, which needs no key. */
const FALLBACK_MODEL = "callboard/rehearsal";

/** Gives `{ row, events, defaults }`; `row` is null and `events` empty before the first message. */
export const loadConversation: Load = async (db, id) => {
  const [row, events, model] = await db.queryAll([
    sql("SELECT status, profile FROM conversations WHERE id = ?", id),
    sql("SELECT seq, type, payload, at FROM events WHERE actor = ? ORDER BY seq", `conversation/${id}`),
    sql("SELECT value FROM settings WHERE key = 'default_model'"),
  ]);
  if (!row || !events || !model) throw new Error("the database answered fewer queries than were asked");
  const stored = objects<{ seq: number; type: string; payload: string; at: number }>(events);
  return {
    row: objects<{ status: string; profile: string }>(row)[0] ?? null,
    events: stored.map((event) => ({ ...event, payload: JSON.parse(event.payload) })),
    defaults: { model: objects<{ value: string }>(model)[0]?.value ?? FALLBACK_MODEL },
  };
};
