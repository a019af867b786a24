/**
 * The policy that a new installation starts with, as one batch, once per schema version: what a person deletes later stays deleted. The group
 * comes before its rules. The mark in `settings` is the first statement and fails when it is there, so two starts never seed twice. What lies
 * outside the workspace needs no rule: `lib/policy/judge.ts` denies it always. Proven by `store/decide_test.ts`.
 */
import { secretPatterns } from "../lib/policy/floor.ts";
import { type Db, DbError, sql, type Statement } from "./db.ts";

interface Seed {
  readonly id: string;
  readonly layer?: "protected";
  readonly action: "allow" | "ask" | "deny";
  readonly tool: string;
  readonly path?: string;
  readonly priority?: number;
  readonly note: string;
}

const LAST = 1_000_000;

/** The rules of version 1, in the order in which they are looked at. */
const version1: readonly Seed[] = [
  ...secretPatterns.map((path, index): Seed => ({
    id: `seed-protected-${index + 1}`,
    layer: "protected",
    action: "deny",
    tool: "*",
    path,
    note: "Secrets are never read or written by an agent",
  })),
  {
    id: "seed-ask-user",
    action: "allow",
    tool: "ask_user",
    note: "Asking you a question needs no permission",
  },
  { id: "seed-update-plan", action: "allow", tool: "update_plan", note: "A plan touches nothing" },
  {
    id: "seed-list-schedules",
    action: "allow",
    tool: "list_schedules",
    note: "Shows this conversation's schedules",
  },
  {
    id: "seed-cancel-schedule",
    action: "allow",
    tool: "cancel_schedule",
    note: "Ends a schedule of this conversation",
  },
  {
    id: "seed-schedule",
    action: "ask",
    tool: "schedule",
    note: "Will start turns by itself later",
  },
  { id: "seed-exec-command", action: "ask", tool: "exec_command", note: "Runs a program" },
  { id: "seed-mcp", action: "ask", tool: "mcp__*", note: "Whatever a configured server does" },
  { id: "seed-rest", action: "ask", tool: "*", priority: LAST, note: "Everything else is asked for" },
];

/** Seeds version 1 unless that was done before; says whether it did. Rejects with `DbError`: an installation must not start without it. */
export async function seed(db: Db, now: number): Promise<boolean> {
  const done = await db.query(sql("SELECT 1 FROM settings WHERE key = 'seeded_1'"));
  if (done.rows.length > 0) return false;
  try {
    await db.batch(seedStatements(now));
    return true;
  } catch (error) {
    // Another process was first, or the answer was lost after the commit.
    if (error instanceof DbError) {
      const again = await db.query(sql("SELECT 1 FROM settings WHERE key = 'seeded_1'"));
      if (again.rows.length > 0) return false;
    }
    throw error;
  }
}

/** The batch; its first statement fails when it ran before. */
export function seedStatements(now: number): Statement[] {
  return [
    sql("INSERT INTO settings (key, value, at) VALUES ('seeded_1', '1', ?)", now),
    sql(
      "INSERT INTO rule_groups (id, name, description, created_at) VALUES ('default', 'Default', 'Stands behind every other group', ?)",
      now,
    ),
    ...version1.map((rule, ordinal) =>
      sql(
        `INSERT INTO rules (id, group_id, layer, ordinal, priority, action, tool_pattern, path_pattern, note, created_by, created_at, updated_at)
         VALUES (?, 'default', ?, ?, ?, ?, ?, ?, ?, 'seed', ?, ?)`,
        rule.id,
        rule.layer ?? "normal",
        ordinal + 1,
        rule.priority ?? 1000,
        rule.action,
        rule.tool,
        rule.path,
        rule.note,
        now,
        now,
      )
    ),
    sql(
      `INSERT INTO profiles (id, name, brain, model, group_id, config, created_at, updated_at)
       VALUES ('default', 'Default', 'builtin', NULL, 'default', '{}', ?, ?)`,
      now,
      now,
    ),
  ];
}

/** Ends every bypass: a new supervisor lease is a new session. */
export function endBypasses(now: number): Statement[] {
  return [
    sql("UPDATE bypasses SET ended_at = ?, ended_reason = 'restart' WHERE ended_at IS NULL", now),
  ];
}
