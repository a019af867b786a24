/**
 * What approval knows: policy, people, tools and everything that is still open. All of it is rebuilt from rows; nothing is only here. State is
 * never changed in place, since a handler's result may be refused.
 */
import { genesis, type Head } from "../../lib/decision_chain.ts";
import type { ProfileBody } from "../../lib/profile.ts";
import type { Bypass, Rule } from "../../lib/policy/rule.ts";
import type {
  LoadedApproval,
  LoadedConversation,
  LoadedItem,
  LoadedTool,
  LoadedUser,
  SeenTool,
} from "../../store/loads/approval.ts";
import type { StoredApproval, StoredDecision } from "../../store/ops/items.ts";
import type { GateSettings, QuestionRaise } from "../protocol/approval.ts";
import type { Described, ToolJudge } from "../protocol/tools.ts";
import { type Counts, restoreBrakes } from "./judging/brakes.ts";
import { readSettings } from "./policy/settings.ts";
import type { Granted } from "./deciding/suspension.ts";

/** Where a call comes from, as far as it is known. */
export interface Origin {
  readonly profile?: string | undefined;
  readonly source?: "web" | "channel" | "dm" | undefined;
  readonly channelId?: number | undefined;
  /** What began the turn. */
  readonly trigger?: "person" | "schedule" | undefined;
  /** Whose words began the turn or came into it. */
  readonly requestedBy?: ToolJudge["requestedBy"] | undefined;
}

/** An edit that a person allowed and that the toolbox is describing anew. */
export interface Edit {
  readonly by: string;
  readonly name: string;
  readonly surface: StoredDecision["surface"];
  readonly device?: string | undefined;
  readonly arguments: Readonly<Record<string, unknown>>;
}

/** An item that still waits, or was decided and not yet applied. */
export interface OpenItem {
  readonly id: string;
  readonly kind: "approval" | "question" | "elicitation";
  /** The version in which it was offered for decision; the row's own is one higher once it is decided. */
  readonly version: number;
  /** The compare-and-set was tried by approval itself; the message that applies it is on its way. */
  readonly claimed: boolean;
  readonly edit?: Edit | undefined;
  readonly conversation: string;
  readonly turnId: string;
  readonly callId: string;
  readonly tool?: string | undefined;
  readonly arguments?: string | undefined;
  readonly described?: Described | undefined;
  readonly digest?: string | undefined;
  readonly origin: Origin;
  readonly question?: {
    readonly text: string;
    readonly suggestions: readonly string[];
    readonly sealTo?: { readonly x: string; readonly y: string } | undefined;
    readonly asker?: QuestionRaise["asker"];
    readonly form?: QuestionRaise["form"];
    readonly link?: QuestionRaise["link"];
  } | undefined;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly expiresAt: number;
  /** A brake asked for it, which no change of policy lifts. */
  readonly braked?: boolean | undefined;
  /** One of two people has allowed it. */
  readonly firstApproval?: StoredApproval | undefined;
  readonly card?: { readonly messageId: number; readonly whole: boolean } | undefined;
}

/** The whole state. */
export interface ApprovalState {
  /** Null: they cannot be read. */
  readonly rules: readonly Rule[] | null;
  readonly repair: LoadedApproval["repair"];
  readonly groups: readonly string[];
  readonly groupNames: ReadonlyMap<
    string,
    { readonly name: string; readonly description?: string | undefined }
  >;
  /** By id. */
  readonly profiles: Readonly<Record<string, ProfileBody>>;
  /** Profiles of conversations that are too old to be among `conversations`. */
  readonly olderProfiles: readonly string[];
  readonly bypasses: readonly Bypass[];
  /** Bypasses that a new lease ended before this state was loaded; their entry in the log is still to come. */
  readonly lapsed: readonly Bypass[];
  readonly tools: readonly LoadedTool[];
  /** Every tool that was ever offered, by name. */
  readonly seenTools: ReadonlyMap<string, SeenTool>;
  readonly items: ReadonlyMap<string, OpenItem>;
  /** Calls handed to the toolbox to run: call id → conversation. */
  readonly running: ReadonlyMap<string, string>;
  /** Calls withdrawn before they were judged, by the conversation that said so. */
  readonly withdrawn: LoadedApproval["withdrawn"];
  readonly head: Head;
  /** Set while everything is suspended: by whom and since when. */
  readonly suspended: { readonly by: string; readonly at: number } | null;
  /** Calls that may run and are held back, by id. */
  readonly held: ReadonlyMap<string, Granted>;
  readonly users: readonly LoadedUser[];
  readonly zulipApprovers: readonly number[] | "*";
  readonly conversations: ReadonlyMap<string, LoadedConversation>;
  readonly gate: GateSettings;
  /** Allowed calls that have not begun and can be taken back, by item. */
  readonly undoable: ReadonlyMap<
    string,
    { readonly callId: string; readonly conversation: string; readonly until: number }
  >;
  /** Parked conversations with the items that say so. */
  readonly restarts: ReadonlyMap<string, string>;
  /** When a tool was let run without a person lately, by agent and tool. */
  readonly lately: Counts;
  /** Refusals since a person last allowed something, by conversation. */
  readonly denials: Counts;
}

/** Rebuilds the state from what `store/loads/approval.ts` read. */
export function restore(loaded: unknown): ApprovalState {
  const rows = loaded as LoadedApproval; // the loader's own shape, as JSON
  const gate = readSettings(rows.gate);
  return {
    rules: rows.rules,
    repair: rows.repair,
    groups: rows.groups.map((group) => group.id),
    groupNames: new Map(rows.groups.map(({ id, name, description }) => [id, {
      name,
      description: description ?? undefined,
    }])),
    profiles: rows.profiles,
    olderProfiles: rows.olderProfiles,
    bypasses: rows.bypasses,
    lapsed: rows.lapsed,
    tools: rows.tools,
    seenTools: new Map(rows.seenTools.map((tool) => [tool.name, tool])),
    items: new Map(rows.items.map((row) => [row.id, restoreItem(row)])),
    running: new Map(Object.entries(rows.running)),
    withdrawn: rows.withdrawn,
    head: rows.head ?? genesis,
    suspended: rows.suspended,
    held: new Map(rows.held.map((call) => [call.callId, call as Granted])), // `call.move` stored the grant
    users: rows.users,
    zulipApprovers: rows.zulipApprovers,
    conversations: new Map(Object.entries(rows.conversations)),
    gate,
    undoable: new Map(rows.undoable.map(({ itemId, ...call }) => [itemId, call])),
    restarts: new Map(Object.entries(rows.restarts)),
    ...restoreBrakes(rows.recent, gate),
  };
}

function restoreItem(row: LoadedItem): OpenItem {
  // The JSON columns hold what `item.create` and the compare-and-set wrote.
  const described = row.described as Described | null;
  const trace = row.trace as { readonly origin?: Origin; readonly braked?: boolean } | null;
  const question = row.question as OpenItem["question"] | null;
  return {
    id: row.id,
    kind: row.kind,
    version: row.state === "decided" ? row.version - 1 : row.version,
    claimed: false,
    edit: restoreEdit(row),
    conversation: row.conversation,
    turnId: row.turnId,
    callId: row.callId,
    tool: row.tool ?? undefined,
    arguments: row.arguments ?? undefined,
    described: described ?? undefined,
    digest: row.digest ?? undefined,
    origin: trace?.origin ?? {},
    question: question ?? undefined,
    createdAt: row.createdAt,
    expiresAt: row.expiresAt,
    braked: trace?.braked,
    firstApproval: row.firstApproval as StoredApproval | null ?? undefined, // `item.reopen` wrote it
    card: row.cardMessageId === null
      ? undefined
      : { messageId: row.cardMessageId, whole: row.cardWhole === 1 },
  };
}

/** A decided edit is taken up as such only when it was recorded already; otherwise its `approval.decide` is still to come. */
function restoreEdit(row: LoadedItem): Edit | undefined {
  const decision = row.decision as StoredDecision | null;
  if (decision?.decision !== "edit_and_allow" || !decision.arguments || !row.editing) return undefined;
  return {
    by: row.decidedBy ?? "",
    name: decision.by,
    surface: decision.surface,
    device: decision.device,
    arguments: decision.arguments,
  };
}
