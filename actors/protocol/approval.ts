/**
 * Pending items and policy: how an item is raised, decided, shown and settled, and the commands that change policy.
 */
import * as z from "zod";
import { gateDefaults } from "../../lib/gate_settings.ts";
import { ProfileBody } from "../../lib/profile.ts";
import { ApprovalReact, CardGone } from "./cards.ts";
import { message } from "./define.ts";
import { QuestionAnswered, QuestionRaise, QuestionWithdrawn } from "./question.ts";

export { QuestionAnswered, QuestionRaise, QuestionWithdrawn };

/** The strict list of answers a person can give (HTTP API, design §13). A typo is refused, never an approval. */
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

/** Where a decision came from and whose it is. `userId` is our user; a Zulip reaction has `zulipUserId` and is checked by approval. */
export const Decider = z.object({
  userId: z.string().optional(),
  name: z.string(),
  surface: z.enum(["web", "zulip", "api", "system"]),
  device: z.string().optional(),
  zulipUserId: z.int().optional(),
  /** As it was when the decision was recorded; approval refuses what the role does not allow. */
  role: z.enum(["owner", "approver", "viewer"]).optional(),
});
export type Decider = z.infer<typeof Decider>;

/** Action of a rule; a rule body accompanies `allow_always` and `reject_always`. */
export const RuleBody = z.object({
  groupId: z.string().default("default"),
  priority: z.int().min(-1_000_000).max(1_000_000).default(100),
  action: z.enum(["allow", "ask", "deny"]),
  toolPattern: z.string().min(1).max(200),
  pathPattern: z.string().max(1000).nullable().default(null),
  argvPrefix: z.array(z.string()).max(50).nullable().default(null),
  agent: z.string().nullable().default(null),
  source: z.string().nullable().default(null),
  note: z.string().max(1000).nullable().default(null),
  expiresAt: z.int().nullable().default(null),
  maxUses: z.int().positive().nullable().default(null),
});
export type RuleBody = z.infer<typeof RuleBody>;

/** What a person decided, as recorded with the item. `note` reaches the model on a rejection. */
export const DecisionBody = z.object({
  decision: DecisionKind,
  note: z.string().max(4000).optional(),
  /** Sealed (`lib/sealed.ts`) when the question asks for a secret; sealing makes it longer. */
  answer: z.string().max(120_000).optional(),
  arguments: z.record(z.string(), z.unknown()).optional(),
  /** For `allow_session`: how wide (default `tool`, the exact tool) and how long at most, seconds. */
  scope: z.enum(["tool", "category", "mcp", "all"]).optional(),
  seconds: z.int().positive().max(8 * 3600).optional(),
  rule: RuleBody.optional(),
});
export type DecisionBody = z.infer<typeof DecisionBody>;

/** What of policy settled an item that waited; nobody decided it. */
export const SettledBy = z.object({ by: z.enum(["rule", "profile", "bypass", "default"]), ref: z.string() });
export type SettledBy = z.infer<typeof SettledBy>;

/** The compare-and-set happened at the edge (`store/decide.ts`); approval re-checks, records and applies it. */
export const ApprovalDecide = z.object({
  itemId: z.string(),
  version: z.int(),
  body: DecisionBody,
  by: Decider,
  /** Only approval says so, to itself: `by` is then who changed policy. */
  settled: SettledBy.optional(),
});
export type ApprovalDecide = z.infer<typeof ApprovalDecide>;

/** How the gate treats what waits. Times in seconds; null switches a limit off. The HTTP API shows it in the same shape. */
export const GateSettings = z.object({
  expirySeconds: z.int().min(60).max(30 * 86_400).default(7 * 86_400),
  /** `park` keeps it waiting, `escalate` hands it on to one person after the other and waits once more for each. */
  onExpiry: z.enum(["reject", "park", "escalate"]).default("reject"),
  /** The same for calls of single tools, by pattern; the first entry that covers a tool holds. */
  expiryByTool: z.array(z.object({
    toolPattern: z.string().min(1).max(200),
    expirySeconds: z.int().min(60).max(30 * 86_400),
    onExpiry: z.enum(["reject", "park", "escalate"]),
  })).max(50).default([]),
  /** Whom it is handed on to, user ids in order; empty: the owner. */
  escalateTo: z.array(z.string().max(100)).max(20).default([]),
  /** What happens when nobody of them decided. */
  lastResort: z.enum(["reject", "park"]).default("reject"),
  remindSeconds: z.int().min(60).max(30 * 86_400).nullable().default(null),
  /** No reminder and no escalation from hour to hour, in `timeZone`. */
  quietHours: z.object({ from: z.int().min(0).max(23), to: z.int().min(0).max(23) }).nullable().default(null),
  /** IANA name. */
  timeZone: z.string().min(1).max(100).default("UTC"),
  /** Tools, by pattern, for which one person's *allow* is not enough, and nothing else is. */
  twoPersons: z.array(z.string().min(1).max(200)).max(50).default([]),
  /** How long an allowed call of high risk can be taken back before it begins. */
  undoSeconds: z.int().min(0).max(300).default(gateDefaults.undoSeconds),
  /** Of one tool by one agent (profile), without a person; more are asked for. */
  callsPerMinute: z.int().min(1).max(10_000).nullable().default(120),
  /** So many refusals in a conversation within ten minutes, with no call that a person allowed in between, stop the agent's turn. */
  denialsInARow: z.int().min(1).max(1_000).nullable().default(10),
  /** Whether somebody whose words began the turn, or came into it, may allow its calls. */
  requesterMayApprove: z.boolean().default(true),
});
export type GateSettings = z.infer<typeof GateSettings>;

/** Approval's own alarm to say once more that an item waits. */
export const ApprovalRemind = z.object({ itemId: z.string(), version: z.int(), round: z.int().positive() });
export type ApprovalRemind = z.infer<typeof ApprovalRemind>;

/**
 * Approval's own alarm for an item's expiry. `claimed`: the compare-and-set was tried; a decision that won it stands before this message in
 * the mailbox, so if the item is still open when this one is handled, the expiry has won.
 */
export const ApprovalExpire = z.object({
  itemId: z.string(),
  version: z.int(),
  claimed: z.boolean().default(false),
  /** How often its time was prolonged. */
  round: z.int().nonnegative().default(0),
  /** The asker set the time, so it is not prolonged. */
  fixed: z.boolean().default(false),
});
export type ApprovalExpire = z.infer<typeof ApprovalExpire>;

/** The card of an item stands in the topic. `whole`: the full preview was shown, uncut. */
export const CardShown = z.object({
  itemId: z.string(),
  version: z.int(),
  messageId: z.int(),
  whole: z.boolean(),
});
export type CardShown = z.infer<typeof CardShown>;

/** Approval's own alarm for the end of a bypass. */
export const BypassExpire = z.object({ id: z.string() });
export type BypassExpire = z.infer<typeof BypassExpire>;

/** A conversation's session ended (`!new`, a person's stop): its bypasses end. */
export const SessionEnded = z.object({ reason: z.enum(["reset", "stop"]) });
export type SessionEnded = z.infer<typeof SessionEnded>;

/** A rule with its place, as the log keeps it. */
export const StoredRule = z.object({
  id: z.string(),
  layer: z.enum(["protected", "normal"]),
  ordinal: z.int(),
  rule: RuleBody,
});
export type StoredRule = z.infer<typeof StoredRule>;

/** Where a conversation stands, as its row says. */
export const ConversationStanding = z.object({
  profile: z.string(),
  source: z.enum(["web", "channel", "dm"]),
  channelId: z.int().nullable(),
});

/**
 * A change of policy; one from the edge is answered with `policy.done`. What Zulip says of a person's role is not believed: approval looks the
 * linked user up.
 */
export const PolicyCommand = z.object({
  by: Decider,
  /** From Zulip: the conversation in whose topic to say how it went. */
  tell: z.string().optional(),
  /** The entry of the decisions log that this command takes back. */
  reverts: z.int().positive().optional(),
  command: z.discriminatedUnion("kind", [
    z.object({ kind: z.literal("rule.create"), rule: RuleBody }),
    z.object({ kind: z.literal("rule.update"), id: z.string(), rule: RuleBody }),
    /** Rules of one group in the order in which those of equal priority are to be looked at. */
    z.object({
      kind: z.literal("rule.order"),
      groupId: z.string(),
      ids: z.array(z.string()).min(1).max(1000),
    }),
    z.object({ kind: z.literal("rule.delete"), id: z.string() }),
    /** A deleted rule, as it was. */
    z.object({ kind: z.literal("rule.restore"), ...StoredRule.shape }),
    z.object({ kind: z.literal("bypass.revoke"), id: z.string() }),
    /** `copyOf`: starts with the rules of that group. Answered with the new group's id. */
    z.object({
      kind: z.literal("group.create"),
      name: z.string().trim().min(1).max(100),
      description: z.string().max(1000).optional(),
      copyOf: z.string().optional(),
    }),
    z.object({
      kind: z.literal("group.update"),
      id: z.string(),
      name: z.string().trim().min(1).max(100),
      description: z.string().max(1000).optional(),
    }),
    z.object({ kind: z.literal("group.delete"), id: z.string() }),
    /** A deleted group with its rules, as it was. */
    z.object({
      kind: z.literal("group.restore"),
      id: z.string(),
      name: z.string(),
      description: z.string().optional(),
      rules: z.array(StoredRule),
    }),
    z.object({ kind: z.literal("profile.create"), profile: ProfileBody }),
    /** What is left out stays as it is. */
    z.object({ kind: z.literal("profile.update"), id: z.string(), changes: ProfileBody.partial() }),
    z.object({ kind: z.literal("profile.group"), profile: z.string(), groupId: z.string() }),
    z.object({ kind: z.literal("profile.delete"), id: z.string() }),
    /** A deleted profile, as it was. */
    z.object({ kind: z.literal("profile.restore"), id: z.string(), profile: ProfileBody }),
    /** From the next call and turn on. `standing`: what the conversation's row says, for approval does not know all. */
    z.object({
      kind: z.literal("conversation.profile"),
      conversation: z.string(),
      profile: z.string(),
      standing: ConversationStanding,
    }),
    /** Takes back an allowance whose call has not begun: `undoSeconds`. */
    z.object({ kind: z.literal("item.undo"), itemId: z.string() }),
    z.object({ kind: z.literal("gate.settings"), settings: GateSettings }),
    /** Stop everything: what is allowed is held back until it is lifted. */
    z.object({ kind: z.literal("effects.suspend") }),
    z.object({ kind: z.literal("effects.resume") }),
  ]),
});
export type PolicyCommand = z.infer<typeof PolicyCommand>;
export const PolicyDone = z.object({
  ok: z.boolean(),
  id: z.string().optional(),
  code: z.string().optional(),
  message: z.string().optional(),
});
export type PolicyDone = z.infer<typeof PolicyDone>;

/** Who may decide by a Zulip reaction: approval's copy of the edge's `users` and `entitlements`, sent whole whenever they change. */
export const PeopleKnown = z.object({
  users: z.array(z.object({
    id: z.string(),
    name: z.string(),
    role: z.enum(["owner", "approver", "viewer"]),
    zulipUserId: z.int().nullable(),
    /** Channels in which the user may approve. */
    channels: z.array(z.int()),
    /** When the last of their sessions ends unless it is used, milliseconds since the epoch; null: they are signed in nowhere. */
    sessionUntil: z.int().nullable().optional(),
    /** They have a device that takes push messages; absent: none. */
    takesPush: z.boolean().optional(),
  })),
});
export type PeopleKnown = z.infer<typeof PeopleKnown>;

/** A conversation is parked until a person restarts it. */
export const RestartWanted = z.object({ conversation: z.string(), reason: z.string().max(1000) });
export type RestartWanted = z.infer<typeof RestartWanted>;
export const RestartDone = z.object({ conversation: z.string() });
export type RestartDone = z.infer<typeof RestartDone>;

/** What the conversation records about its waiting call. */
export const CallWaiting = z.object({
  callId: z.string(),
  itemId: z.string(),
  kind: z.enum(["approval", "question", "elicitation"]),
});
export type CallWaiting = z.infer<typeof CallWaiting>;
export const CallDecided = z.object({
  callId: z.string(),
  itemId: z.string(),
  decision: z.string(),
  by: z.string(),
  /** What the person changed in the arguments before they allowed the call; the values are JSON text, cut. Absent: not there before or after. */
  changes: z.array(z.object({
    name: z.string(),
    before: z.string().optional(),
    after: z.string().optional(),
  })).optional(),
});
export type CallDecided = z.infer<typeof CallDecided>;

/** Message types of this subject. */
export const approvalMessages = {
  "approval.decide": message(["edge", "approval"], ["approval"], ApprovalDecide, { lane: "control" }),
  "approval.react": message(["zulip"], ["approval"], ApprovalReact, { lane: "control" }),
  "approval.expire": message(["approval"], ["approval"], ApprovalExpire, { lane: "control" }),
  "approval.remind": message(["approval"], ["approval"], ApprovalRemind),
  "approval.policy": message(["edge", "zulip", "supervisor"], ["approval"], PolicyCommand, {
    lane: "control",
    request: true,
  }),
  // In the lane of decisions, so that a person is known before their first one, and gone before any later one.
  "people.known": message(["edge", "supervisor"], ["approval"], PeopleKnown, { lane: "control" }),
  "bypass.expire": message(["approval"], ["approval"], BypassExpire, { lane: "control" }),
  "restart.wanted": message(["supervisor"], ["approval"], RestartWanted),
  "restart.done": message(["supervisor"], ["approval"], RestartDone),
  "policy.done": message(["approval"], ["edge"], PolicyDone),
  "question.raise": message(["toolbox"], ["approval"], QuestionRaise, { request: true }),
  "question.withdrawn": message(["toolbox"], ["approval"], QuestionWithdrawn),
  "question.answered": message(["approval"], ["toolbox"], QuestionAnswered, { recovery: "repeat" }),
  "session.ended": message(["conversation"], ["approval"], SessionEnded, { lane: "control" }),
  "call.waiting": message(["approval"], ["conversation"], CallWaiting),
  "call.decided": message(["approval"], ["conversation"], CallDecided),
  "card.shown": message(["zulip"], ["approval"], CardShown, { lane: "control" }),
  "card.gone": message(["zulip"], ["approval"], CardGone, { lane: "control" }),
} as const;
