/**
 * Profiles, and the choice of one for a conversation. Part of `edge/api.ts`.
 */
import * as z from "zod";
import { ProfileBody } from "../../lib/profile.ts";

const { name, groupId, model, instructions, writePaths, excludedTools } = ProfileBody.shape;

/**
 * `POST /api/profiles` (owner). `model` null: the installation's; a person's own choice in a conversation comes before it. `instructions` end the
 * system prompt. `writePaths`: paths of the workspace, each with all below it, where files are written without a question; no denial is lifted,
 * and no question that a rule asks about something in particular. `excludedTools`: patterns of tools that are neither offered nor run.
 */
export const ProfileInput = z.strictObject({
  name,
  groupId: groupId.default("default"),
  model: model.default(null),
  instructions: instructions.default(""),
  writePaths: writePaths.default([]),
  excludedTools: excludedTools.default([]),
});
export type ProfileInput = z.input<typeof ProfileInput>;

/** `PATCH /api/profiles/:id` (owner): what is left out stays as it is. */
export const ProfileChange = z.strictObject(ProfileBody.shape).partial();
export type ProfileChange = z.infer<typeof ProfileChange>;

/** `PUT /api/profiles/:id/group` (owner). */
export const ProfileGroup = z.strictObject({ groupId });
export type ProfileGroup = z.infer<typeof ProfileGroup>;

/** `PUT /api/conversations/:id/profile` (owner): from the next call and turn on. */
export const ProfileChoice = z.strictObject({ profile: z.string().min(1).max(100) });
export type ProfileChoice = z.infer<typeof ProfileChoice>;

/** `isUsed`: a conversation uses it. Such a one, and `default`, cannot be deleted. */
export const ProfileView = z.object({
  id: z.string(),
  ...ProfileBody.shape,
  brain: z.string(),
  isUsed: z.boolean(),
  updatedAt: z.int(),
});
export type ProfileView = z.infer<typeof ProfileView>;

/** `GET /api/profiles` (owner, approver), by name. */
export const ProfileList = z.object({ profiles: z.array(ProfileView) });
export type ProfileList = z.infer<typeof ProfileList>;
