/**
 * Operations on `conversations`: the row that lists show. The conversation's own event log is the truth; this is its index, so nothing here
 * needs a guard. The supervisor binds the key: a conversation reaches no row but its own.
 */
import * as z from "zod";
import { DEFAULT_PROFILE } from "../../lib/policy/profile.ts";
import { sql } from "../db.ts";
import { announce } from "../feed.ts";
import { op } from "../op.ts";

/**
 * `source` is what a list shows; where exactly the conversation stands is in its log and in `topics`. Which profile it has is not its own to say
 * (`profiles.ts`).
 */
const Put = z.object({
  title: z.string(),
  source: z.enum(["web", "channel", "dm"]),
  channelId: z.int().optional(),
});

const count = z.int().nonnegative().default(0);

/** Only what is given changes; `turns` and `usage` are added to what is there. */
const Update = z.object({
  title: z.string().optional(),
  status: z.enum(["idle", "running", "waiting"]).optional(),
  model: z.string().optional(),
  preview: z.string().optional(),
  turns: count,
  inputTokens: count,
  outputTokens: count,
  costUsd: z.number().nonnegative().default(0),
});

/** Operations of this subject. */
export const conversationOps = {
  "conversation.put": op(["conversation"], Put, (input, { id, now }) => [
    sql(
      `INSERT INTO conversations (id, title, source, channel_id, profile, status, created_at, updated_at)
       VALUES (?, ?, ?, ?, ?, 'idle', ?, ?) ON CONFLICT (id) DO NOTHING`,
      id,
      input.title,
      input.source,
      input.channelId,
      DEFAULT_PROFILE,
      now,
      now,
    ),
    announce("conversation", id, 0, now),
  ]),
  "conversation.update": op(["conversation"], Update, (input, { id, now }) => [
    sql(
      `UPDATE conversations SET title = COALESCE(?, title), status = COALESCE(?, status), model = COALESCE(?, model),
         preview = COALESCE(?, preview), turns = turns + ?, input_tokens = input_tokens + ?, output_tokens = output_tokens + ?,
         cost_usd = cost_usd + ?, updated_at = ? WHERE id = ?`,
      input.title,
      input.status,
      input.model,
      input.preview,
      input.turns,
      input.inputTokens,
      input.outputTokens,
      input.costUsd,
      now,
      id,
    ),
    announce("conversation", id, 0, now),
  ]),
} as const;
