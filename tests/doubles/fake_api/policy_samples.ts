/**
 * What the fake API shows of policy: rules in every section, rules that lint finds fault with, bypasses that run out, schedules of every kind, and a log.
 */
import {
  type BypassView,
  ProfileInput,
  type ProfileView,
  type RuleView,
  type ScheduleView,
  type ShownEntry,
  type ToolView,
} from "../../../edge/api.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** Groups by id. */
export function sampleGroups(): { id: string; name: string; description?: string }[] {
  return [
    { id: "default", name: "Default", description: "Stands behind every other group" },
    {
      id: "night",
      name: "Night shift",
      description: "Nobody is there to ask: narrow allowances, the rest denied",
    },
  ];
}

/** A rule with everything that is not said. */
export function sampleRule(id: string, now: number, more: Partial<RuleView>): RuleView {
  return {
    id,
    groupId: "default",
    layer: "normal",
    ordinal: 1,
    priority: 100,
    action: "ask",
    toolPattern: "*",
    pathPattern: null,
    argvPrefix: null,
    agent: null,
    source: null,
    note: null,
    expiresAt: null,
    maxUses: null,
    uses: 0,
    lastUsedAt: null,
    createdBy: "seed",
    createdAt: now - 100 * HOUR,
    updatedAt: now - 100 * HOUR,
    ...more,
  };
}

/** Rules in the order in which they are looked at. */
export function sampleRules(now: number): RuleView[] {
  const secret = {
    layer: "protected",
    action: "deny",
    note: "Secrets are never read or written by an agent",
  } as const;
  const tool = (id: string, toolPattern: string, more: Partial<RuleView>) =>
    sampleRule(id, now, { toolPattern, priority: 1000, ...more });
  return [
    sampleRule("p1", now, { ...secret, pathPattern: "/**/secrets/*" }),
    sampleRule("p2", now, {
      ...secret,
      ordinal: 2,
      pathPattern: "/**/.ssh/*",
      uses: 2,
      lastUsedAt: now - 3 * HOUR,
    }),
    sampleRule("r1", now, {
      ordinal: 3,
      priority: -10,
      action: "deny",
      toolPattern: "exec_command",
      argvPrefix: ["git", "push", "--force"],
      note: "History is not rewritten",
      createdBy: "Ada",
    }),
    sampleRule("r2", now, {
      ordinal: 4,
      action: "allow",
      toolPattern: "exec_command",
      argvPrefix: ["git", "status"],
      uses: 41,
      lastUsedAt: now - 6 * MINUTE,
      createdBy: "Ada",
    }),
    sampleRule("r3", now, {
      ordinal: 5,
      action: "ask",
      toolPattern: "exec_command",
      argvPrefix: ["git", "status", "--short"],
      createdBy: "Grace",
    }),
    sampleRule("r4", now, {
      ordinal: 6,
      priority: 890,
      action: "allow",
      toolPattern: "@fs_any",
      pathPattern: "/reports/*",
      uses: 7,
      lastUsedAt: now - HOUR,
      createdBy: "Ada",
    }),
    sampleRule("r5", now, {
      ordinal: 7,
      priority: 880,
      action: "deny",
      toolPattern: "@fs_any",
      pathPattern: "/reports/archive/*",
      createdBy: "Ada",
    }),
    tool("r6", "ask_user", {
      ordinal: 8,
      action: "allow",
      note: "Asking you a question needs no permission",
    }),
    tool("r7", "exec_command", {
      ordinal: 9,
      note: "Runs a program",
      uses: 12,
      lastUsedAt: now - 3 * MINUTE,
    }),
    tool("r8", "mcp__*", { ordinal: 10, note: "Whatever a configured server does" }),
    tool("r9", "mcp__github__create_issue", {
      ordinal: 11,
      action: "allow",
      source: "channel",
      maxUses: 10,
      uses: 3,
      expiresAt: now + 5 * HOUR,
      createdBy: "Grace",
    }),
    sampleRule("r10", now, { ordinal: 12, priority: 1_000_000, note: "Everything else is asked for" }),
    sampleRule("n1", now, {
      groupId: "night",
      action: "allow",
      toolPattern: "exec_command",
      argvPrefix: ["make", "backup"],
      createdBy: "Ada",
    }),
    sampleRule("n2", now, {
      groupId: "night",
      ordinal: 2,
      priority: 1_000_000,
      action: "deny",
      createdBy: "Ada",
    }),
  ];
}

/** Tools of our own and of two servers. */
export function sampleTools(now: number): ToolView[] {
  const tool = (name: string, source: string, kind: string, available = true): ToolView => ({
    name,
    source,
    class: kind,
    description: "",
    parameters: {},
    schemaHash: "5e1f",
    trusted: false,
    available,
    firstSeen: now - 100 * HOUR,
    lastSeen: now,
  });
  return [
    tool("exec_command", "builtin", "exec"),
    tool("read_file", "builtin", "read"),
    tool("write_file", "builtin", "write"),
    tool("ask_user", "builtin", "plan"),
    tool("update_plan", "builtin", "plan"),
    tool("schedule", "builtin", "schedule"),
    {
      ...tool("mcp__github__create_issue", "mcp:github", "mcp"),
      parameters: {
        type: "object",
        properties: {
          title: { type: "string", description: "One line that says what is wrong" },
          urgency: { enum: ["low", "high"] },
          votes: { type: "integer" },
          draft: { type: "boolean" },
          labels: { type: "array" },
        },
        required: ["title"],
      },
    },
    { ...tool("mcp__github__search", "mcp:github", "mcp"), trusted: true, hints: { readOnly: true } },
    { ...tool("mcp__mail__send", "mcp:mail", "mcp", false), mode: "prompt", hints: { destructive: true } },
  ];
}

/** Profiles. */
export function sampleProfiles(now: number): ProfileView[] {
  const more = {
    ...ProfileInput.parse({ name: "Default" }),
    brain: "builtin",
    isUsed: false,
    updatedAt: now - 50 * HOUR,
  };
  return [
    { id: "default", ...more, isUsed: true },
    {
      id: "nightly",
      ...more,
      name: "Nightly jobs",
      model: "anthropic/claude-sonnet-4-5",
      groupId: "night",
      instructions: "Be brief.\nNobody is awake.",
      writePaths: ["/reports"],
      excludedTools: ["mcp__mail__*"],
    },
    { id: "coder", ...more, name: "External coder", brain: "acp" },
  ];
}

/** Bypasses in force. */
export function sampleBypasses(now: number): BypassView[] {
  const conversation = { id: "c1", title: "ops > nightly backup" };
  const more = { conversation, grantedBy: "Ada", surface: "web" } as const;
  return [
    {
      id: "b1",
      ...more,
      scope: "tool",
      pattern: "edit_file",
      uses: 4,
      createdAt: now - HOUR,
      expiresAt: now + 7 * HOUR,
    },
    {
      id: "b2",
      ...more,
      scope: "all",
      pattern: null,
      uses: 0,
      createdAt: now - 14 * MINUTE,
      expiresAt: now + 95_000,
    },
    {
      id: "b3",
      ...more,
      scope: "mcp",
      pattern: "github",
      uses: 1,
      createdAt: now - HOUR,
      expiresAt: now + 40 * MINUTE,
    },
  ];
}

/** Schedules of every kind. */
export function sampleSchedules(now: number): ScheduleView[] {
  const more = {
    conversation: { id: "c1", title: "ops > nightly backup" },
    timeZone: "Europe/Berlin",
    enabled: true,
    lastAt: null,
    createdBy: "agent",
  };
  return [
    {
      id: "s1",
      ...more,
      key: "verify-backup",
      spec: { kind: "cron", expression: "30 6 * * 1-5" },
      prompt: "Check that last night's backup can be restored, and say so in the topic.",
      nextAt: now + 9 * HOUR,
      lastAt: now - 15 * HOUR,
    },
    {
      id: "s2",
      ...more,
      key: "disk-watch",
      spec: { kind: "every", everyMs: 30 * MINUTE },
      prompt: "Warn when /srv is more than 90 % full.",
      nextAt: now + 11 * MINUTE,
      lastAt: now - 19 * MINUTE,
    },
    {
      id: "s3",
      ...more,
      key: "remind-grace",
      spec: { kind: "once", at: now + 26 * HOUR },
      prompt: "Remind Grace of the restore drill.",
      nextAt: now + 26 * HOUR,
    },
  ];
}

/** The log: decisions of every surface and changes of policy. */
export function sampleAudit(now: number): ShownEntry[] {
  const digest = "9f2c4be1d07a5a88c3f1e6f0b7a9d2c45e61f8a3b0c7d9e2f4a6b8c0d1e3f5a7";
  const entry = (seq: number, more: Partial<ShownEntry>): ShownEntry => ({
    seq,
    at: now - (10 - seq) * HOUR,
    kind: "decision",
    conversation: "c1",
    actor: "user:u1",
    surface: "web",
    device: "d1",
    decision: "allow_once",
    digest,
    body: { name: "Ada" },
    shown: { who: "Ada", tool: "exec_command", summary: "Run: make test", title: "ops > nightly backup" },
    prevHash: `${seq - 1}`.repeat(8),
    hash: `${seq}`.repeat(64),
    ...more,
  });
  return [
    entry(1, {
      itemId: "i5",
      decision: "allow_session",
      body: { by: "Ada", tool: "write_file" },
      shown: { who: "Ada", tool: "write_file", summary: "Write notes.md" },
    }),
    entry(2, {
      itemId: "i6",
      actor: "user:u2",
      surface: "zulip",
      device: undefined,
      decision: "reject_once",
      body: { by: "Grace", tool: "mcp__github__create_issue", note: "Not before Monday." },
      shown: { who: "Grace", tool: "mcp__github__create_issue" },
    }),
    entry(3, {
      kind: "policy",
      decision: "rule.create",
      conversation: undefined,
      digest: undefined,
      body: { by: "Ada", id: "r2", after: { toolPattern: "exec_command", argvPrefix: ["git", "status"] } },
      shown: { who: "Ada" },
    }),
    entry(4, {
      actor: "system",
      surface: "system",
      device: undefined,
      decision: "expired",
      body: { tool: "exec_command" },
      shown: { tool: "exec_command", summary: "Run: make test" },
    }),
    entry(5, {}),
  ];
}
