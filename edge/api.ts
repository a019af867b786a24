/**
 * The HTTP API as types: every request, response and stream event between the edge and whoever calls it (the UI, scripts, tests). Request
 * schemas are strict: an unknown field or enum value is a 400, never a guess. Response schemas are what the edge promises to send. It imports
 * nothing but zod, so that a browser bundle may import its types. Times are milliseconds since the Unix epoch unless a name says otherwise.
 */
import * as z from "zod";

// --- errors ------------------------------------------------------------------------------------------------------------------------

/** The one shape of an error answer. `code` is stable, `message` is for people and never holds a secret. */
export const ErrorBody = z.object({ error: z.object({ code: z.string(), message: z.string() }) });
export type ErrorBody = z.infer<typeof ErrorBody>;

// --- session -----------------------------------------------------------------------------------------------------------------------

export const Role = z.enum(["owner", "approver", "viewer"]);
export type Role = z.infer<typeof Role>;

/** `POST /api/session`: a one-time token or the `OWNER_TOKEN`. `device` names the browser in the device list. */
export const SignIn = z.strictObject({
  token: z.string().min(16).max(512),
  device: z.string().trim().min(1).max(100).optional(),
});
export type SignIn = z.infer<typeof SignIn>;

/** `GET /api/me` and the answer to a sign-in. State-changing calls repeat `csrf` in the header `X-Callboard-Csrf`. */
export const Me = z.object({
  user: z.object({ id: z.string(), name: z.string(), role: Role }),
  device: z.object({ id: z.string(), name: z.string() }),
  csrf: z.string(),
  expiresAt: z.int(),
  version: z.string(),
  /** Set when the instance can name its Zulip realm. */
  realm: z.string().optional(),
});
export type Me = z.infer<typeof Me>;

/** `GET /api/devices`: one per sign-in. */
export const Device = z.object({
  id: z.string(),
  name: z.string(),
  createdAt: z.int(),
  seenAt: z.int(),
  current: z.boolean(),
});
export type Device = z.infer<typeof Device>;
export const DeviceList = z.object({ devices: z.array(Device) });
export type DeviceList = z.infer<typeof DeviceList>;

/** `POST /api/devices/link`: a one-time sign-in link for another device of the same user. */
export const DeviceLink = z.object({ url: z.string(), expiresAt: z.int() });
export type DeviceLink = z.infer<typeof DeviceLink>;

// --- inbox -------------------------------------------------------------------------------------------------------------------------

export const ItemKind = z.enum(["approval", "question", "elicitation", "restart"]);
export type ItemKind = z.infer<typeof ItemKind>;
export const ItemState = z.enum([
  "waiting",
  "decided",
  "applied",
  "failed",
  "expired",
  "superseded",
  "cancelled",
]);
export type ItemState = z.infer<typeof ItemState>;
export const Risk = z.enum(["low", "medium", "high"]);
export type Risk = z.infer<typeof Risk>;

/** The call as the toolbox described it from reality. `preview` is the whole text a person must be able to read. */
export const DescribedView = z.object({
  class: z.enum(["read", "write", "exec", "plan", "schedule", "mcp"]),
  source: z.string(),
  summary: z.string(),
  paths: z.array(z.object({
    path: z.string(),
    access: z.enum(["read", "write"]),
    exists: z.boolean(),
    sha256: z.string().optional(),
  })),
  outside: z.array(z.string()),
  argv: z.array(z.string()).optional(),
  cwd: z.string().optional(),
  preview: z.object({ kind: z.enum(["diff", "text", "command", "json"]), text: z.string() }).optional(),
  sandboxed: z.boolean(),
  /** Nothing but *once* may allow it: `allow_session` and `allow_always` are refused. */
  askOnce: z.boolean(),
  risk: Risk,
  idempotent: z.boolean(),
});
export type DescribedView = z.infer<typeof DescribedView>;

/** Why an item waits: what each layer of the policy said, in order. */
export const TraceStep = z.object({ step: z.string(), outcome: z.string(), ref: z.string().optional() });
export type TraceStep = z.infer<typeof TraceStep>;

export const DecisionKind = z.enum([
  "allow_once",
  "allow_session",
  "allow_always",
  "reject_once",
  "reject_always",
  "cancel",
  "answer",
  "edit_and_allow",
]);
export type DecisionKind = z.infer<typeof DecisionKind>;

/** A rule as a person writes it; also the `rule` of `allow_always` and `reject_always`. Lower `priority` is looked at first. */
export const RuleInput = z.strictObject({
  groupId: z.string().min(1).max(100).default("default"),
  priority: z.int().min(-1_000_000).max(1_000_000).default(100),
  action: z.enum(["allow", "ask", "deny"]),
  toolPattern: z.string().min(1).max(200),
  pathPattern: z.string().max(1000).nullable().default(null),
  argvPrefix: z.array(z.string().max(1000)).max(50).nullable().default(null),
  agent: z.string().max(200).nullable().default(null),
  source: z.string().max(200).nullable().default(null),
  note: z.string().max(1000).nullable().default(null),
  expiresAt: z.int().nullable().default(null),
  maxUses: z.int().positive().nullable().default(null),
});
export type RuleInput = z.input<typeof RuleInput>;

/** `POST /api/inbox/:id/decision`. `version` is the item's, as shown to the person who decides. */
export const DecisionRequest = z.strictObject({
  version: z.int(),
  decision: DecisionKind,
  note: z.string().max(4000).optional(),
  answer: z.string().max(20_000).optional(),
  arguments: z.record(z.string(), z.unknown()).optional(),
  scope: z.enum(["tool", "category", "mcp", "all"]).optional(),
  seconds: z.int().positive().max(8 * 3600).optional(),
  rule: RuleInput.optional(),
});
export type DecisionRequest = z.input<typeof DecisionRequest>;

/** `POST /api/inbox/:id/later`: decides nothing, hides the item from the badge until then. */
export const LaterRequest = z.strictObject({ until: z.int().positive() });
export type LaterRequest = z.infer<typeof LaterRequest>;

/** What was decided and by whom. */
export const DecisionView = z.object({
  decision: DecisionKind,
  by: z.string(),
  surface: z.enum(["web", "zulip", "api", "system"]),
  device: z.string().optional(),
  at: z.int(),
  note: z.string().optional(),
  answer: z.string().optional(),
  arguments: z.record(z.string(), z.unknown()).optional(),
});
export type DecisionView = z.infer<typeof DecisionView>;

/** One pending item of any kind. `conversation.source` is `web`, `channel` or `dm`. */
export const Item = z.object({
  id: z.string(),
  kind: ItemKind,
  state: ItemState,
  version: z.int(),
  conversation: z.object({ id: z.string(), title: z.string(), source: z.string() }),
  turnId: z.string().optional(),
  callId: z.string().optional(),
  tool: z.string().optional(),
  /** The JSON value the model wrote, parsed; absent when it is no JSON. */
  arguments: z.unknown().optional(),
  described: DescribedView.optional(),
  digest: z.string().optional(),
  risk: Risk.optional(),
  trace: z.array(TraceStep).optional(),
  question: z.string().optional(),
  suggestions: z.array(z.string()).optional(),
  createdAt: z.int(),
  updatedAt: z.int(),
  expiresAt: z.int().optional(),
  laterUntil: z.int().optional(),
  deliveredAt: z.int().optional(),
  seenAt: z.int().optional(),
  decision: DecisionView.optional(),
  /** Why it ended as it did (`failed`, `superseded`, `cancelled`). */
  note: z.string().optional(),
});
export type Item = z.infer<typeof Item>;

/** `GET /api/inbox`. `total` counts what the caller may see in that state; `next` is the `after` of the next page. */
export const ItemList = z.object({ items: z.array(Item), total: z.int(), next: z.string().optional() });
export type ItemList = z.infer<typeof ItemList>;

/** The 409 of a late decision: the error plus the item as it now stands, with the winner in `item.decision`. */
export const DecisionConflict = ErrorBody.extend({ item: Item });
export type DecisionConflict = z.infer<typeof DecisionConflict>;

// --- conversations -----------------------------------------------------------------------------------------------------------------

export const ConversationStatus = z.enum(["idle", "running", "waiting", "paused", "parked"]);
export type ConversationStatus = z.infer<typeof ConversationStatus>;

export const ConversationSummary = z.object({
  id: z.string(),
  title: z.string(),
  /** `web`, `channel` or `dm`. */
  source: z.string(),
  channelId: z.int().optional(),
  channel: z.string().optional(),
  topic: z.string().optional(),
  profile: z.string(),
  model: z.string().optional(),
  status: ConversationStatus,
  turns: z.int(),
  inputTokens: z.int(),
  outputTokens: z.int(),
  costUsd: z.number(),
  preview: z.string().optional(),
  /** Pending items that wait for a person. */
  waiting: z.int(),
  createdAt: z.int(),
  updatedAt: z.int(),
});
export type ConversationSummary = z.infer<typeof ConversationSummary>;
export const ConversationList = z.object({
  conversations: z.array(ConversationSummary),
  next: z.string().optional(),
});
export type ConversationList = z.infer<typeof ConversationList>;

/** `POST /api/conversations`; the conversation exists as soon as its first message is handled. */
export const NewConversation = z.strictObject({
  text: z.string().trim().min(1).max(200_000),
  title: z.string().trim().min(1).max(200).optional(),
});
export type NewConversation = z.infer<typeof NewConversation>;

/** `POST …/messages`. `mode`: own turn after the current one, into the running turn, or in its place. `clientId` makes a repeat harmless. */
export const NewMessage = z.strictObject({
  text: z.string().trim().min(1).max(200_000),
  mode: z.enum(["queue", "steer", "start"]).default("queue"),
  clientId: z.string().min(8).max(64).regex(/^[A-Za-z0-9_-]+$/).optional(),
});
export type NewMessage = z.input<typeof NewMessage>;

/** `POST …/stop`. */
export const StopRequest = z.strictObject({ turnId: z.string().max(64).optional() });
export type StopRequest = z.infer<typeof StopRequest>;

/** `POST …/model`. `provider/name`. */
export const ModelChoice = z.strictObject({
  model: z.string().min(3).max(200).regex(/^[^/\s]+\/\S+$/, "must be provider/name"),
});
export type ModelChoice = z.infer<typeof ModelChoice>;

/** 202: a durable message was committed. `id` is the message's; `conversation` the conversation's. */
export const Accepted = z.object({ id: z.string(), conversation: z.string() });
export type Accepted = z.infer<typeof Accepted>;

/** One event of a transcript; the payload's shape belongs to `type`. */
export const ConversationEvent = z.object({
  seq: z.int(),
  type: z.string(),
  at: z.int(),
  payload: z.unknown(),
});
export type ConversationEvent = z.infer<typeof ConversationEvent>;

/** `GET …/events?after=`; `next` is set when there are more. */
export const EventList = z.object({ events: z.array(ConversationEvent), next: z.int().optional() });
export type EventList = z.infer<typeof EventList>;

// --- actors ------------------------------------------------------------------------------------------------------------------------

export const DownReason = z.enum(["error", "exit", "hang", "oom", "killed", "lost", "shutdown"]);
export type DownReason = z.infer<typeof DownReason>;

export const ActorView = z.object({
  ref: z.string(),
  kind: z.string(),
  state: z.enum(["sleeping", "starting", "live", "parked"]),
  /** Name of the host process it runs in; absent while it sleeps. */
  host: z.string().optional(),
  pid: z.int().optional(),
  incarnation: z.int().optional(),
  mailbox: z.object({ control: z.int(), normal: z.int(), oldestMs: z.int() }),
  restarts: z.int(),
  lastDown: z.object({ reason: DownReason, detail: z.string().optional(), at: z.int() }).optional(),
  parkedReason: z.string().optional(),
  /** The title of a conversation. */
  title: z.string().optional(),
});
export type ActorView = z.infer<typeof ActorView>;

/** `GET /api/actors`. `source: "rows"` means that the edge does not share a process with the supervisor: hosts are unknown. */
export const ActorList = z.object({
  actors: z.array(ActorView),
  source: z.enum(["live", "rows"]),
  supervisor: z.object({ away: z.boolean(), holder: z.string().optional(), expiresAt: z.int().optional() }),
});
export type ActorList = z.infer<typeof ActorList>;

/** 202 of a command that only the supervisor or approval can carry out. */
export const CommandAccepted = z.object({ command: z.string() });
export type CommandAccepted = z.infer<typeof CommandAccepted>;

/** 200 of a policy command that approval carried out within five seconds. */
export const CommandDone = z.object({ command: z.string(), id: z.string().optional() });
export type CommandDone = z.infer<typeof CommandDone>;

/** `GET /api/commands/:id`: how a 202 ended. */
export const CommandStatus = z.object({
  command: z.string(),
  state: z.enum(["pending", "done", "failed"]),
  id: z.string().optional(),
  error: z.object({ code: z.string(), message: z.string() }).optional(),
});
export type CommandStatus = z.infer<typeof CommandStatus>;

// --- policy, tools, schedules --------------------------------------------------------------------------------------------------------

export const RuleView = z.object({
  id: z.string(),
  groupId: z.string(),
  layer: z.enum(["protected", "normal"]),
  ordinal: z.int(),
  priority: z.int(),
  action: z.enum(["allow", "ask", "deny"]),
  toolPattern: z.string(),
  pathPattern: z.string().nullable(),
  argvPrefix: z.array(z.string()).nullable(),
  agent: z.string().nullable(),
  source: z.string().nullable(),
  note: z.string().nullable(),
  expiresAt: z.int().nullable(),
  maxUses: z.int().nullable(),
  uses: z.int(),
  lastUsedAt: z.int().nullable(),
  createdBy: z.string(),
  createdAt: z.int(),
  updatedAt: z.int(),
});
export type RuleView = z.infer<typeof RuleView>;

/** `GET /api/rules`: groups and their rules, each group in the order in which rules are looked at. */
export const RuleList = z.object({
  groups: z.array(z.object({ id: z.string(), name: z.string(), description: z.string().optional() })),
  rules: z.array(RuleView),
});
export type RuleList = z.infer<typeof RuleList>;

/** `GET /api/rules/explain?tool=&path=&access=&argv=&group=&agent=&source=`: what policy would say, without any bypass. */
export const ExplainAnswer = z.object({
  outcome: z.enum(["allow", "ask", "deny"]),
  by: z.enum(["rule", "fast_path", "bypass", "default"]),
  ref: z.string(),
  trace: z.array(TraceStep),
});
export type ExplainAnswer = z.infer<typeof ExplainAnswer>;

export const BypassView = z.object({
  id: z.string(),
  conversation: z.object({ id: z.string(), title: z.string() }),
  scope: z.enum(["tool", "category", "mcp", "all"]),
  pattern: z.string().nullable(),
  grantedBy: z.string(),
  surface: z.string(),
  uses: z.int(),
  createdAt: z.int(),
  expiresAt: z.int(),
});
export type BypassView = z.infer<typeof BypassView>;
export const BypassList = z.object({ bypasses: z.array(BypassView) });
export type BypassList = z.infer<typeof BypassList>;

export const ToolView = z.object({
  name: z.string(),
  source: z.string(),
  class: z.string(),
  description: z.string(),
  parameters: z.unknown(),
  schemaHash: z.string(),
  available: z.boolean(),
  firstSeen: z.int(),
  lastSeen: z.int(),
});
export type ToolView = z.infer<typeof ToolView>;
export const McpServerView = z.object({
  name: z.string(),
  state: z.string(),
  detail: z.string().optional(),
  tools: z.int(),
  unsandboxed: z.boolean(),
  at: z.int(),
});
export type McpServerView = z.infer<typeof McpServerView>;
export const ToolList = z.object({ tools: z.array(ToolView), servers: z.array(McpServerView) });
export type ToolList = z.infer<typeof ToolList>;

export const ProfileView = z.object({
  id: z.string(),
  name: z.string(),
  brain: z.string(),
  model: z.string().nullable(),
  groupId: z.string(),
  updatedAt: z.int(),
});
export type ProfileView = z.infer<typeof ProfileView>;
export const ProfileList = z.object({ profiles: z.array(ProfileView) });
export type ProfileList = z.infer<typeof ProfileList>;

export const ScheduleSpecView = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("once"), at: z.int() }),
  z.object({ kind: z.literal("every"), everyMs: z.int(), startAt: z.int().optional() }),
  z.object({ kind: z.literal("cron"), expression: z.string() }),
]);
export type ScheduleSpecView = z.infer<typeof ScheduleSpecView>;
export const ScheduleView = z.object({
  id: z.string(),
  conversation: z.object({ id: z.string(), title: z.string() }),
  key: z.string(),
  spec: ScheduleSpecView,
  prompt: z.string(),
  timeZone: z.string(),
  enabled: z.boolean(),
  nextAt: z.int().nullable(),
  lastAt: z.int().nullable(),
  createdBy: z.string(),
});
export type ScheduleView = z.infer<typeof ScheduleView>;
export const ScheduleList = z.object({ schedules: z.array(ScheduleView) });
export type ScheduleList = z.infer<typeof ScheduleList>;

// --- audit -------------------------------------------------------------------------------------------------------------------------

/** One link of the decisions chain. `hash` covers `prevHash` and the entry's own fields. */
export const AuditEntry = z.object({
  seq: z.int(),
  at: z.int(),
  kind: z.string(),
  itemId: z.string().optional(),
  callId: z.string().optional(),
  conversation: z.string().optional(),
  actor: z.string(),
  surface: z.string(),
  device: z.string().optional(),
  decision: z.string(),
  digest: z.string().optional(),
  body: z.unknown(),
  prevHash: z.string(),
  hash: z.string(),
});
export type AuditEntry = z.infer<typeof AuditEntry>;
export const AuditList = z.object({ entries: z.array(AuditEntry), next: z.int().optional() });
export type AuditList = z.infer<typeof AuditList>;

/** `GET /api/audit/verify`: `brokenAt` is the first entry whose hash does not follow from what stands before it. */
export const AuditVerdict = z.object({ ok: z.boolean(), entries: z.int(), brokenAt: z.int().optional() });
export type AuditVerdict = z.infer<typeof AuditVerdict>;

// --- stream ------------------------------------------------------------------------------------------------------------------------

/** A piece of an answer or of tool output that is still growing; `offset` in UTF-16 units from the item's start. */
export const Delta = z.object({
  turnId: z.string(),
  item: z.string(),
  kind: z.enum(["text", "reasoning", "output"]),
  offset: z.int().nonnegative(),
  text: z.string(),
});
export type Delta = z.infer<typeof Delta>;

/**
 * `GET /api/stream?after=&conversation=`: server-sent events. The `event:` field is the key, `data:` the JSON value. Every event but `delta` has an
 * `id:` that moves the cursor; the header `Last-Event-ID` or `?after=` resumes behind it. After `reset` the client reads its lists anew.
 */
export const streamEvents = {
  /** First of every connection: the cursor from which this stream continues. */
  hello: z.object({ cursor: z.int(), version: z.string() }),
  /** A pending item as it stands now. */
  item: z.object({ item: Item }),
  /** An actor changed; `actor` is absent when the edge only has rows and knows none. */
  actor: z.object({ ref: z.string(), actor: ActorView.optional() }),
  /** A conversation's row changed. */
  conversation: z.object({ conversation: ConversationSummary }),
  /** A conversation's log now reaches `seq`: read `GET …/events?after=` from where you are. */
  events: z.object({ conversation: z.string(), seq: z.int() }),
  schedule: z.object({ ref: z.string() }),
  policy: z.object({ ref: z.string() }),
  /** Only for conversations named in `?conversation=` (repeatable), never resumed. */
  delta: z.object({ conversation: z.string(), delta: Delta }),
  /** The cursor is unknown or older than what is kept. */
  reset: z.object({ cursor: z.int() }),
} as const;

/** The name of a stream event. */
export type StreamEventName = keyof typeof streamEvents;

/** A stream event with its data, discriminated on `event`. */
export type StreamEvent = {
  [Name in StreamEventName]: { event: Name; data: z.infer<(typeof streamEvents)[Name]>; id?: number };
}[StreamEventName];

// --- paging ------------------------------------------------------------------------------------------------------------------------

/** Query of the lists: numbers arrive as text. */
export const Page = z.strictObject({
  limit: z.coerce.number().int().min(1).max(200).default(50),
  after: z.string().max(100).optional(),
});
export type Page = z.infer<typeof Page>;
