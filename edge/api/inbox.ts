/**
 * Pending items and the decision about one. `RuleInput` stands here because a lasting decision carries a rule. Part of `edge/api.ts`.
 */
import * as z from "zod";
import { ErrorBody } from "./errors.ts";

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
  /** What an MCP server says of its own tool. To be shown as its claim. */
  hints: z.object({
    readOnly: z.boolean().optional(),
    destructive: z.boolean().optional(),
    openWorld: z.boolean().optional(),
    idempotent: z.boolean().optional(),
  }).optional(),
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

/** How far *for this session* reaches: the tool, its kind among our own, its MCP server, or whatever is called. */
export const BypassScope = z.enum(["tool", "category", "mcp", "all"]);
export type BypassScope = z.infer<typeof BypassScope>;

/** Which MCP server asks, while which of its tools runs. */
export const AskerView = z.object({ server: z.string(), tool: z.string(), sandboxed: z.boolean() });
export type AskerView = z.infer<typeof AskerView>;

/** A form to fill in. Without fields it asks for agreement only. `lib/form_field.ts` checks what is filled in. */
export const FormView = z.object({
  message: z.string(),
  fields: z.array(z.object({
    name: z.string(),
    label: z.string(),
    description: z.string().optional(),
    type: z.enum(["string", "number", "integer", "boolean", "choice", "choices"]),
    required: z.boolean(),
    secret: z.boolean(),
    format: z.enum(["email", "uri", "date", "date-time"]).optional(),
    min: z.number().optional(),
    max: z.number().optional(),
    choices: z.array(z.object({ value: z.string(), label: z.string() })).optional(),
    fallback: z.union([z.string(), z.number(), z.boolean(), z.array(z.string())]).optional(),
  })),
});
export type FormView = z.infer<typeof FormView>;

/** A page to open. Its address passes `lib/web_link.ts`; `answer` says that the person opened it. */
export const LinkView = z.object({ message: z.string(), url: z.string() });
export type LinkView = z.infer<typeof LinkView>;

/** `POST /api/inbox/:id/decision`. `version` is the item's, as shown to the person who decides; a `scope` beyond `tool` needs the owner. */
export const DecisionRequest = z.strictObject({
  version: z.int(),
  decision: DecisionKind,
  note: z.string().max(4000).optional(),
  answer: z.string().max(20_000).optional(),
  content: z.record(z.string().max(200), z.unknown()).optional(),
  arguments: z.record(z.string(), z.unknown()).optional(),
  scope: BypassScope.optional(),
  seconds: z.int().positive().max(8 * 3600).optional(),
  rule: RuleInput.optional(),
});
export type DecisionRequest = z.input<typeof DecisionRequest>;

/** `POST /api/inbox/:id/later`: decides nothing, hides the item from one's own badge until then. */
export const LaterRequest = z.strictObject({ until: z.int().positive().nullable() });
export type LaterRequest = z.infer<typeof LaterRequest>;

/** `POST /api/inbox/:id/delegate`: decides nothing, names who is asked to; null takes it back. They must be able to decide it. */
export const DelegateRequest = z.strictObject({ userId: z.string().min(1).max(100).nullable() });
export type DelegateRequest = z.infer<typeof DelegateRequest>;

/** `GET /api/inbox/:id/deciders`: who may decide it, for whoever may do so too; without the person who asks. */
export const DeciderList = z.object({ people: z.array(z.object({ id: z.string(), name: z.string() })) });
export type DeciderList = z.infer<typeof DeciderList>;

/** What was decided and by whom. */
export const DecisionView = z.object({
  decision: DecisionKind,
  by: z.string(),
  surface: z.enum(["web", "zulip", "api", "system"]),
  device: z.string().optional(),
  at: z.int(),
  /** Until then the call does not begin, and `POST /api/inbox/:id/undo` takes it back. */
  undoUntil: z.int().optional(),
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
  /** What began the turn that asks: a person's words, or a schedule's. */
  trigger: z.enum(["person", "schedule"]).optional(),
  /** The JSON value the model wrote, parsed; absent when it is no JSON. */
  arguments: z.unknown().optional(),
  described: DescribedView.optional(),
  digest: z.string().optional(),
  risk: Risk.optional(),
  trace: z.array(TraceStep).optional(),
  question: z.string().optional(),
  suggestions: z.array(z.string()).optional(),
  /** The answer is a secret: ask for it in a field that shows and keeps nothing. The edge seals it; it is stored nowhere and never shown again. */
  secret: z.literal(true).optional(),
  asker: AskerView.optional(),
  form: FormView.optional(),
  link: LinkView.optional(),
  createdAt: z.int(),
  updatedAt: z.int(),
  expiresAt: z.int().optional(),
  /** Until when the person who asks has put it off. */
  laterUntil: z.int().optional(),
  deliveredAt: z.int().optional(),
  seenAt: z.int().optional(),
  /** Who was asked to decide it. */
  delegatedTo: z.object({ id: z.string(), name: z.string() }).optional(),
  /** Nobody decided in time, so that it was handed on to `delegatedTo`, the `round`-th time. */
  escalated: z.object({ at: z.int(), round: z.int() }).optional(),
  /** Two people must allow it, by the settings of this moment; so nobody may edit it. */
  twoPersons: z.literal(true).optional(),
  /** One person (`id`) has allowed it, and a second one must: nobody decides twice. */
  firstApproval: z.object({ id: z.string(), by: z.string(), at: z.int() }).optional(),
  decision: DecisionView.optional(),
  /** Why it ended as it did (`failed`, `superseded`, `cancelled`). */
  note: z.string().optional(),
  /** Its call was allowed and began, and nobody knows whether it ran to its end. */
  unknownOutcome: z.literal(true).optional(),
});
export type Item = z.infer<typeof Item>;

/**
 * `GET /api/inbox`. `total` counts what the caller may see in that state; `next` is the `after` of the next page. `notices`: what keeps
 * the whole from working, in words, when something does.
 */
export const ItemList = z.object({
  items: z.array(Item),
  total: z.int(),
  next: z.string().optional(),
  notices: z.array(z.string()).optional(),
});
export type ItemList = z.infer<typeof ItemList>;

/** The 409 of a late decision: the error plus the item as it now stands, with the winner in `item.decision`. */
export const DecisionConflict = ErrorBody.extend({ item: Item });
export type DecisionConflict = z.infer<typeof DecisionConflict>;
