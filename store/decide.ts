/**
 * The one transition that the edge may make on a pending item: waiting → decided, with the facts of the decision and approval's message, in one
 * batch. The first valid decision wins; the same one again by the same person is answered as if it had been the first time. That it is
 * *decided* says nothing of policy: approval re-checks and applies it. Proven by `store/decide_test.ts`.
 */
import { type DecisionKind, decisionsFor, isAllowing, isForOnce, isLasting } from "../lib/decision_kind.ts";
import { ruleProblem, type RuleText } from "../lib/policy/check_rule.ts";
import type { ErrorCode, Failure } from "../lib/result.ts";
import { isSealed } from "../lib/sealed.ts";
import type { CommitMember, CommitResult } from "./committer.ts";
import { type Db, DbError, guard, labelled, objects, sql, type Statement } from "./db.ts";
import { announce } from "./feed.ts";
import { insertMessage } from "./mail.ts";
import type { StoredDecision } from "./ops/items.ts";
import { canAct, type Viewer } from "./queries/access.ts";
import { findItem, type FoundItem, type ItemView } from "./queries/items.ts";

/** What a person decided; the shape of `DecisionBody` in the protocol. */
export interface DecisionBody {
  readonly decision: DecisionKind;
  readonly note?: string | undefined;
  readonly answer?: string | undefined;
  readonly arguments?: Readonly<Record<string, unknown>> | undefined;
  readonly scope?: "tool" | "category" | "mcp" | "all" | undefined;
  readonly seconds?: number | undefined;
  /** A `RuleBody` of the protocol, already parsed. */
  readonly rule?: (RuleText & Readonly<Record<string, unknown>>) | undefined;
}

/** Who decides, as the session says. */
export interface DecidingPerson {
  readonly viewer: Viewer;
  readonly name: string;
  readonly surface: "web" | "api";
  readonly device?: string | undefined;
}

/** One decision on the version that was shown to the person. */
export interface DecideRequest {
  readonly itemId: string;
  readonly version: number;
  readonly body: DecisionBody;
  readonly by: DecidingPerson;
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly newId: () => string;
  /** How to commit; default one batch on the given database. */
  readonly commit?: ((member: CommitMember) => Promise<CommitResult>) | undefined;
}

/**
 * The item as it then stands. Errors: `not_found` (also for what the person may not see), `forbidden` (role, channel), `bad_request` (kind and
 * decision do not fit, something is missing), `conflict` with the item in `winner`, `unavailable` and `unknown_outcome` from the database.
 */
export type Decided =
  | { readonly ok: true; readonly value: ItemView; readonly repeated: boolean }
  | { readonly ok: false; readonly error: Failure; readonly winner?: ItemView };

/** Decides an item. Rejects with `DbError` when the database cannot be read. */
export async function decide(db: Db, request: DecideRequest): Promise<Decided> {
  const found = await findItem(db, request.itemId);
  if (!found) return refusal("not_found", "There is no such item");
  const refused = refuse(found, request) ?? await refuseSamePerson(db, found, request);
  if (refused) return refused;
  const { expiresAt } = found.item;
  if (found.item.state === "waiting" && expiresAt !== undefined && expiresAt <= request.now) {
    return refusal("conflict", "Its time is over, so it can no longer be decided", found.item);
  }
  if (found.item.state !== "waiting" || found.item.version !== request.version) {
    return settled(found, request);
  }

  const member = { id: request.newId(), statements: statements(request) };
  const committed = await (request.commit ?? batchOn(db))(member);
  if (!committed.ok && committed.error.code !== "guard_failed") return committed;
  const now = await findItem(db, request.itemId);
  if (!now) return refusal("not_found", "The item is gone");
  return committed.ok ? { ok: true, value: now.item, repeated: false } : settled(now, request);
}

function refuse(found: FoundItem, request: DecideRequest): Decided | undefined {
  const { body, by } = request;
  if (!canAct(by.viewer, found.channelId)) {
    return refusal("forbidden", "You may not decide in this conversation; ask its owner");
  }
  if (!decisionsFor(found.item.kind).includes(body.decision)) {
    return refusal("bad_request", `"${body.decision}" does not fit an item of kind "${found.item.kind}"`);
  }
  if (isLasting(body.decision) && by.viewer.role !== "owner") {
    return refusal("forbidden", "Only the owner may make a lasting rule; decide once instead");
  }
  if (body.decision === "allow_session" && (body.scope ?? "tool") !== "tool" && by.viewer.role !== "owner") {
    return refusal("forbidden", "Only the owner may allow more than this tool for a while");
  }
  if (body.decision === "edit_and_allow" && found.twoPersons) {
    return refusal("bad_request", "Two people must allow this call, so it cannot be edited");
  }
  if (found.askOnce && !isForOnce(body.decision)) {
    return refusal("bad_request", "Nothing sandboxes this call, so it may only be allowed once");
  }
  if (found.sealTo && body.answer !== undefined && !isSealed(body.answer)) {
    return refusal("bad_request", "This answer is a secret and must be sealed");
  }
  const problem = bodyProblem(body);
  return problem === undefined ? undefined : refusal("bad_request", problem);
}

/** Whoever asked for the call or has allowed it already, on the web or from the Zulip account that is linked to them. */
async function refuseSamePerson(
  db: Db,
  { barred, firstApprovedBy }: FoundItem,
  { body, by }: DecideRequest,
): Promise<Decided | undefined> {
  if (barred.length === 0 && firstApprovedBy === undefined || !isAllowing(body.decision)) return undefined;
  const { userId } = by.viewer;
  const rows = await db.query(sql("SELECT zulip_user_id AS zulip FROM users WHERE id = ?", userId));
  const zulip = objects<{ zulip: number | null }>(rows)[0]?.zulip;
  if (firstApprovedBy === userId || firstApprovedBy === `zulip:${zulip}`) {
    return refusal("forbidden", "You have allowed this already; a second person must");
  }
  const isTheirs = barred.some(({ kind, id }) => kind === "web" ? id === userId : id === `${zulip}`);
  return isTheirs
    ? refusal("forbidden", "You asked for this yourself; the settings leave it to somebody else to allow it")
    : undefined;
}

function bodyProblem(body: DecisionBody): string | undefined {
  switch (body.decision) {
    case "allow_always":
      if (body.rule?.action !== "allow") return "`allow_always` needs a `rule` whose action is `allow`";
      return ruleProblem(body.rule);
    case "reject_always":
      if (body.rule?.action !== "deny") return "`reject_always` needs a `rule` whose action is `deny`";
      return ruleProblem(body.rule);
    case "answer":
      return body.answer?.trim() ? undefined : "`answer` needs an `answer`";
    case "edit_and_allow":
      return body.arguments ? undefined : "`edit_and_allow` needs the edited `arguments`";
    case "allow_once":
    case "allow_session":
    case "reject_once":
    case "cancel":
      return undefined;
    default:
      return body.decision satisfies never;
  }
}

/** The item was decided already, or shown in another version. */
function settled(found: FoundItem, request: DecideRequest): Decided {
  const { item } = found;
  // Being decided and being settled count one version each.
  const decidedAt = item.version - (item.state === "decided" ? 1 : 2);
  const same = item.decision?.decision === request.body.decision &&
    found.decidedBy === request.by.viewer.userId &&
    decidedAt === request.version;
  if (same) return { ok: true, value: item, repeated: true };
  const message = item.decision
    ? `Already decided: ${item.decision.decision} by ${item.decision.by}`
    : item.state === "waiting"
    ? "The item has changed since it was shown; look again"
    : `The item is ${item.state}`;
  return refusal("conflict", message, item);
}

function refusal(code: ErrorCode, message: string, winner?: ItemView): Decided {
  const error = { code, message, retry: false };
  return winner ? { ok: false, error, winner } : { ok: false, error };
}

function statements(request: DecideRequest): Statement[] {
  const { itemId, version, body, by, now } = request;
  const stored: StoredDecision = {
    decision: body.decision,
    by: by.name,
    surface: by.surface,
    ...(by.device === undefined ? {} : { device: by.device }),
    ...(body.answer === undefined ? {} : { answer: body.answer }),
    ...(body.arguments === undefined ? {} : { arguments: body.arguments }),
  };
  const { userId, role } = by.viewer;
  const decider = { userId, role, name: by.name, surface: by.surface, device: by.device };
  return [
    ...labelled(
      "the item still waits in this version",
      guard(
        `EXISTS (SELECT 1 FROM pending_items WHERE id = ? AND version = ? AND state = 'waiting'
           AND (expires_at IS NULL OR expires_at > ?))`,
        itemId,
        version,
        now,
      ),
    ),
    sql(
      `UPDATE pending_items SET state = 'decided', version = version + 1, decision = ?, decided_by = ?, note = ?, decided_at = ?,
         updated_at = ? WHERE id = ?`,
      JSON.stringify(stored),
      userId,
      body.note,
      now,
      now,
      itemId,
    ),
    ...insertMessage({
      id: request.newId(),
      to: "approval",
      from: "edge",
      type: "approval.decide",
      lane: "control",
      payload: { itemId, version, body, by: decider },
      at: now,
    }),
    announce("item", itemId, version + 1, now),
  ];
}

function batchOn(db: Db): (member: CommitMember) => Promise<CommitResult> {
  return async (member) => {
    try {
      return { ok: true, rows: await db.batch(member.statements), recovered: false };
    } catch (error) {
      if (error instanceof DbError && error.constraint === "guard.ok") {
        const message = "The item no longer waits in this version";
        return { ok: false, error: { code: "guard_failed", message, retry: false } };
      }
      throw error;
    }
  };
}
