/** What the toolbox asks of the database: one tool call with what its conversation's row says about policy. */
import * as z from "zod";
import { objects, sql } from "../db.ts";
import { read } from "../read.ts";

const Wanted = z.object({ callId: z.string() });

/** Reads of this subject. JSON columns come as text. */
export const toolboxReads = {
  "toolbox.call": read(["toolbox"], Wanted, async (db, { callId }) => {
    const rows = await db.query(sql(
      `SELECT c.id AS callId, c.conversation, c.turn_id AS turnId, c.tool, c.arguments, c.state, c.digest, c.described, c.triggered_by AS triggeredBy,
         k.profile, k.source, k.channel_id AS channelId
       FROM tool_calls AS c LEFT JOIN conversations AS k ON k.id = c.conversation WHERE c.id = ?`,
      callId,
    ));
    return objects<unknown>(rows)[0] ?? null;
  }),
} as const;
