/**
 * Operations on profiles, and the choice of one for a conversation: the one column of `conversations` that is approval's, for it decides which rules
 * hold there.
 */
import * as z from "zod";
import { ProfileBody } from "../../lib/profile.ts";
import { sql } from "../db.ts";
import { announce } from "../feed.ts";
import { op } from "../op.ts";

const by = ["approval"] as const;

/** Operations of this subject. */
export const profileOps = {
  /** Makes a profile, or gives one that is there another text; its brain stays. */
  "profile.put": op(by, z.object({ id: z.string(), profile: ProfileBody }), ({ id, profile }, { now }) => {
    const { name, groupId, model, ...config } = profile;
    return [
      sql(
        `INSERT INTO profiles (id, name, brain, model, group_id, config, created_at, updated_at)
         VALUES (?, ?, 'builtin', ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET name = excluded.name, model = excluded.model,
           group_id = excluded.group_id, config = excluded.config, updated_at = excluded.updated_at`,
        id,
        name,
        model,
        groupId,
        JSON.stringify(config),
        now,
        now,
      ),
      announce("policy", id, 0, now),
    ];
  }),
  "profile.delete": op(by, z.object({ id: z.string() }), ({ id }, { now }) => [
    sql("DELETE FROM profiles WHERE id = ?", id),
    announce("policy", id, 0, now),
  ]),
  "conversation.profile": op(by, z.object({ id: z.string(), profile: z.string() }), (input, { now }) => [
    sql("UPDATE conversations SET profile = ? WHERE id = ?", input.profile, input.id),
    announce("conversation", input.id, 0, now),
  ]),
} as const;
