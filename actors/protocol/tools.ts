/**
 * A tool call on its one way: conversation → toolbox (describe) → approval (judge) → toolbox (run) → conversation.
 */
import * as z from "zod";
import { message } from "./define.ts";
import { ToolSpec } from "./model.ts";

/**
 * What a tool can do to the world; policy and risk are judged by it. `plan` touches nothing (ask_user, update_plan), `schedule` changes
 * schedules, `mcp` is whatever a configured server offers.
 */
export const ToolClass = z.enum(["read", "write", "exec", "plan", "schedule", "mcp"]);
export type ToolClass = z.infer<typeof ToolClass>;

/**
 * What an MCP server says of its own tool, by the names of the MCP specification without `Hint`; absent: it does not say. A claim that people are
 * shown; rules go by it only where the server is configured as trusted.
 */
export const ToolHints = z.object({
  readOnly: z.boolean().optional(),
  destructive: z.boolean().optional(),
  openWorld: z.boolean().optional(),
  idempotent: z.boolean().optional(),
});
export type ToolHints = z.infer<typeof ToolHints>;

/** A tool as the toolbox offers it. `source` is `builtin` or `mcp:<server>`; `schemaHash` is SHA-256 of its RFC 8785 definition. */
export const KnownTool = ToolSpec.extend({
  source: z.string(),
  class: ToolClass,
  schemaHash: z.string(),
  /** True when running it twice is the same as running it once. */
  idempotent: z.boolean(),
  hints: ToolHints.optional(),
  /** The configuration trusts the server's hints. */
  trusted: z.boolean().optional(),
  /** What the configuration says of an MCP tool: `prompt` asks always, `approve` answers the question that no rule means. */
  mode: z.enum(["prompt", "approve"]).optional(),
});
export type KnownTool = z.infer<typeof KnownTool>;

/** One path that a call touches: virtual (rooted at the workspace, starts with `/`), never a host path. */
export const TouchedPath = z.object({
  path: z.string(),
  access: z.enum(["read", "write"]),
  exists: z.boolean(),
  /** SHA-256 of the present content, hex; absent for a directory or a missing file. */
  sha256: z.string().optional(),
});
export type TouchedPath = z.infer<typeof TouchedPath>;

/**
 * A call described from reality by the toolbox. `summary` is one line for a card; `preview` is the whole text that a person must be able
 * to read (a diff, a script); `sandboxed: false` says that nothing but the person's decision stands between it and the machine.
 */
export const Described = z.object({
  class: ToolClass,
  source: z.string(),
  summary: z.string().max(500),
  paths: z.array(TouchedPath).max(200),
  /** Paths outside the workspace were asked for: always refused by the protected layer. */
  outside: z.array(z.string()).max(50),
  argv: z.array(z.string()).optional(),
  cwd: z.string().optional(),
  /** How long it may run, where the caller chooses. */
  timeoutSeconds: z.number().optional(),
  preview: z.object({ kind: z.enum(["diff", "text", "command", "json"]), text: z.string() }).optional(),
  sandboxed: z.boolean(),
  /** The runtime could not start its sandbox: no rule, bypass, fast path or *always* may allow this call. */
  askOnce: z.boolean(),
  risk: z.enum(["low", "medium", "high"]),
  idempotent: z.boolean(),
  hints: ToolHints.optional(),
});
export type Described = z.infer<typeof Described>;

/** Why a call may run. `edited` arguments replace the proposed ones and are described and digested anew before they run. */
export const Grant = z.object({
  by: z.enum(["rule", "fast_path", "profile", "bypass", "decision"]),
  ref: z.string(),
  digest: z.string(),
});
export type Grant = z.infer<typeof Grant>;

/** Somebody whose words led to a call: a user of ours, or a Zulip account by its number. */
export const Requester = z.object({ kind: z.enum(["web", "zulip"]), id: z.string() });
export type Requester = z.infer<typeof Requester>;

/** A model asks for a tool. `arguments` is the JSON text as the model wrote it. */
export const ToolPropose = z.object({
  callId: z.string(),
  turnId: z.string(),
  tool: z.string().max(200),
  arguments: z.string().max(1_000_000),
  requestedBy: z.array(Requester).max(1_000).optional(),
});
export type ToolPropose = z.infer<typeof ToolPropose>;

/** The toolbox asks for judgement. The conversation is named because the sender is the toolbox. */
export const ToolJudge = z.object({
  callId: z.string(),
  turnId: z.string(),
  conversation: z.string(),
  tool: z.string(),
  arguments: z.string(),
  described: Described,
  digest: z.string(),
  schemaHash: z.string(),
  /** What the conversation's row says; without it approval knows only what it loaded, and rules that allow are matched without it. */
  context: z.object({
    profile: z.string(),
    source: z.enum(["web", "channel", "dm"]),
    channelId: z.int().optional(),
  }).optional(),
  /** What began the turn; a bypass covers what people began only. */
  trigger: z.enum(["person", "schedule"]).optional(),
  /** As the conversation said it with its proposal. */
  requestedBy: z.array(Requester).max(1_000).optional(),
  /** Set on the answer to `tool.redescribe`: a person has already allowed these very arguments with this item. */
  editedFor: z.string().optional(),
});
export type ToolJudge = z.infer<typeof ToolJudge>;

/** Approval lets a described call run. `hidden`: patterns of paths that a command must not see; absent: those of every installation. */
export const ToolRun = z.object({
  callId: z.string(),
  conversation: z.string(),
  grant: Grant,
  hidden: z.array(z.string()).optional(),
});
export type ToolRun = z.infer<typeof ToolRun>;

/**
 * A person edited the arguments and allowed them. The toolbox describes and digests them without moving the row (approval holds the call) and
 * answers with `tool.judge{editedFor: itemId}`, or with `tool.undescribed` when they cannot be described.
 */
export const ToolRedescribe = z.object({
  callId: z.string(),
  turnId: z.string(),
  conversation: z.string(),
  itemId: z.string(),
  tool: z.string(),
  arguments: z.string(),
});
export type ToolRedescribe = z.infer<typeof ToolRedescribe>;
export const ToolUndescribed = z.object({
  callId: z.string(),
  itemId: z.string(),
  message: z.string().max(2000),
});
export type ToolUndescribed = z.infer<typeof ToolUndescribed>;

/** The one answer to `tool.propose`. `text` is what the model is shown, already cut to head and tail. */
export const ToolResult = z.object({
  callId: z.string(),
  outcome: z.enum(["finished", "failed", "invalid", "rejected", "expired", "cancelled", "unknown"]),
  text: z.string(),
  /** Approval or the person asked for the whole turn to stop. */
  stopTurn: z.boolean().default(false),
  exitCode: z.int().optional(),
  durationMs: z.number().optional(),
  /** What let it run, where it was let run. */
  allowed: Grant.pick({ by: true, ref: true }).optional(),
});
export type ToolResult = z.infer<typeof ToolResult>;

/** Output of a running call, as it comes; for live viewers only. */
export const ToolOutput = z.object({
  callId: z.string(),
  stream: z.enum(["stdout", "stderr"]),
  chunk: z.string(),
});
export type ToolOutput = z.infer<typeof ToolOutput>;

/** The turn stopped: a call that has not begun is withdrawn, a running one is killed. */
export const ToolCancel = z.object({ callId: z.string(), reason: z.string().max(500) });
export type ToolCancel = z.infer<typeof ToolCancel>;

/** The conversation asks what it may offer to its model; approval answers, since policy decides what is visible. */
export const ToolsList = z.object({
  turnId: z.string(),
  /** The profile that the conversation's row names, for one that approval does not know. */
  profile: z.string().optional(),
  /** Set when approval asks itself again on behalf of this conversation, because the toolbox has not said yet what there is. */
  onBehalfOf: z.string().optional(),
  /** How often it has asked before. */
  asked: z.int().nonnegative().optional(),
});
export type ToolsList = z.infer<typeof ToolsList>;

/** A tool as a model may see it. `parallel`: calls of one step may run at once if every one of them is such (reads). */
export const OfferedTool = ToolSpec.extend({ parallel: z.boolean().default(false) });
export type OfferedTool = z.infer<typeof OfferedTool>;
/** What a turn may use, and what the conversation's profile gives it: a model, unless a person chose one, and words for the system prompt. */
export const ToolsListed = z.object({
  turnId: z.string(),
  tools: z.array(OfferedTool),
  model: z.string().optional(),
  instructions: z.string().optional(),
});
export type ToolsListed = z.infer<typeof ToolsListed>;

/** Everything the toolbox offers now; said at its start and whenever an MCP server changes. */
export const ToolsKnown = z.object({ tools: z.array(KnownTool), sandbox: z.enum(["bwrap", "none"]) });
export type ToolsKnown = z.infer<typeof ToolsKnown>;

/** Message types of this subject. */
export const toolMessages = {
  "tool.propose": message(["conversation"], ["toolbox"], ToolPropose, { recovery: "repeat", request: true }),
  "tool.judge": message(["toolbox"], ["approval"], ToolJudge, { request: true }),
  "tool.redescribe": message(["approval"], ["toolbox"], ToolRedescribe, {
    recovery: "repeat",
    request: true,
  }),
  "tool.undescribed": message(["toolbox"], ["approval"], ToolUndescribed),
  "tool.run": message(["approval"], ["toolbox"], ToolRun, { recovery: "unknown", request: true }),
  /** The toolbox gives a call back that it may not begin, since everything is suspended. */
  "tool.held": message(["toolbox"], ["approval"], ToolRun),
  "tool.result": message(["toolbox", "approval"], ["conversation"], ToolResult),
  "tool.output": message(["toolbox"], ["conversation"], ToolOutput, { durable: false }),
  "tool.cancel": message(["conversation"], ["toolbox", "approval"], ToolCancel, {
    lane: "control",
    recovery: "repeat",
  }),
  "tools.list": message(["conversation", "approval"], ["approval"], ToolsList, { request: true }),
  "tools.listed": message(["approval"], ["conversation"], ToolsListed),
  "tools.known": message(["toolbox"], ["approval"], ToolsKnown),
} as const;
