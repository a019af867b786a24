/**
 * A profile as people write it and as it is stored: who answers in a conversation, with which words, by which rules. Every field takes effect.
 * What is judged by is in `lib/policy/profile.ts`. Proven by `actors/approval/policy/profiles_test.ts`.
 */
import * as z from "zod";

const config = {
  /** Added to the end of the system prompt. */
  instructions: z.string().trim().max(8_000),
  writePaths: z.array(z.string().trim().min(1).max(500)).max(50),
  excludedTools: z.array(z.string().trim().min(1).max(200)).max(100),
};

/** Everything a person may set. `model` null: the installation's. */
export const ProfileBody = z.object({
  name: z.string().trim().min(1).max(100),
  groupId: z.string().min(1).max(100),
  model: z.string().trim().min(1).max(200).nullable(),
  ...config,
});
export type ProfileBody = z.infer<typeof ProfileBody>;

const StoredConfig = z.object({
  instructions: config.instructions.default(""),
  writePaths: config.writePaths.default([]),
  excludedTools: config.excludedTools.default([]),
});

/** Reads the column `config`. A text that cannot be read leaves every tool out, until somebody saves the profile again. */
export function readProfileConfig(text: string): z.infer<typeof StoredConfig> {
  return StoredConfig.safeParse(fromJson(text)).data ??
    { instructions: "", writePaths: [], excludedTools: ["*"] };
}

function fromJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
