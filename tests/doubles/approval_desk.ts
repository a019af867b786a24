/**
 * Approval at work on a real database: its decisions become rows as the supervisor would commit them, its mailbox is read back in the supervisor's
 * order, and a restart rebuilds it from rows. The rest of the house is what a test posts and what it finds sent.
 */
import assert from "node:assert/strict";
import { approval } from "../../actors/approval/approval.ts";
import type { ApprovalState } from "../../actors/approval/state.ts";
import { GateSettings } from "../../actors/protocol/approval.ts";
import { checkSend, type MessageType } from "../../actors/protocol.ts";
import type { Described } from "../../actors/protocol/tools.ts";
import type { AnyOp, Decision, Envelope, Send } from "../../runtime/actor.ts";
import { type Db, objects, sql, type Statement } from "../../store/db.ts";
import { loadApproval } from "../../store/loads/approval.ts";
import { insertMessage } from "../../store/mail.ts";
import { bootstrap } from "../../store/migrate.ts";
import { openDb } from "../../store/open.ts";
import { opStatements } from "../../store/ops.ts";
import { decide, type Decided, type DecisionBody } from "../../store/decide.ts";
import type { Viewer } from "../../store/queries/access.ts";
import { seed } from "../../store/seeds.ts";

/** A message that approval sent to somebody else. */
export interface Sent {
  readonly to: string;
  readonly type: string;
  // Tests look into payloads field by field.
  readonly payload: Record<string, unknown>;
}

/** The desk. Close it with `await using`. */
export class ApprovalDesk implements AsyncDisposable {
  now = 1_800_000_000_000;
  /** Asked at each of approval's commits, counted from 1: whether approval dies right before it and again right after it. */
  crashesAt: (commit: number) => boolean = () => false;
  /** How many messages approval has handled. */
  commits = 0;
  #ids = 0;
  #state: ApprovalState;

  private constructor(readonly db: Db, readonly folder: string, state: ApprovalState) {
    this.#state = state;
  }

  /** Opens a fresh, seeded database in a temporary folder. */
  static async open(): Promise<ApprovalDesk> {
    const folder = await Deno.makeTempDir({ prefix: "callboard-approval-" });
    const db = await openDb({ url: `file:${folder}/test.db` });
    await bootstrap(db);
    await seed(db, 1);
    return new ApprovalDesk(db, folder, approval.restore(await loadApproval(db), "approval"));
  }

  /** Approval over a seeded database that somebody else opened, and closes. */
  static async over(db: Db, newId: () => string): Promise<ApprovalDesk> {
    const desk = new ApprovalDesk(db, "", approval.restore(await loadApproval(db), "approval"));
    desk.newId = newId;
    return desk;
  }

  get state(): ApprovalState {
    return this.#state;
  }

  newId = (): string => `id-${String(++this.#ids).padStart(5, "0")}`;

  /** Rebuilds the actor from its rows. */
  async restart(): Promise<void> {
    this.#state = approval.restore(await loadApproval(this.db), "approval");
  }

  /** Sends approval a message and lets it work until nothing is due. */
  async post(from: string, type: MessageType, payload: unknown): Promise<void> {
    await this.db.batch(this.#insert(from, { to: "approval", type, payload }));
    await this.work();
  }

  /** Puts a message into the mailbox, first in line, without letting approval look: what happens next happens behind its back. */
  async queue(from: string, type: MessageType, payload: unknown): Promise<void> {
    const statements = this.#insert(from, { to: "approval", type, payload });
    await this.db.batch([
      ...statements,
      sql("UPDATE messages SET lane = 0 WHERE state = 'queued' AND type = ?", type),
    ]);
  }

  /** Handles every due message, control lane first. */
  async work(): Promise<void> {
    for (let message; (message = await this.#next());) await this.#handle(message);
  }

  async #next(): Promise<Envelope | undefined> {
    const rows = await this.db.query(sql(
      `SELECT id, from_ref, type, lane, payload, at FROM messages WHERE to_ref = 'approval' AND state = 'queued'
       AND COALESCE(not_before, 0) <= ? ORDER BY lane, seq LIMIT 1`,
      this.now,
    ));
    const row =
      objects<{ id: string; from_ref: string; type: string; lane: number; payload: string; at: number }>(
        rows,
      )[0];
    if (!row) return undefined;
    return {
      id: row.id,
      v: 1,
      to: "approval",
      from: row.from_ref,
      type: row.type,
      payload: JSON.parse(row.payload),
      lane: row.lane === 0 ? "control" : "normal",
      durable: true,
      at: row.at,
    };
  }

  async #handle(message: Envelope): Promise<void> {
    const crashes = this.crashesAt(++this.commits);
    if (crashes) {
      approval.decide(this.#state, message, { now: this.now, newId: this.newId });
      await this.restart();
    }
    const decision = approval.decide(this.#state, message, { now: this.now, newId: this.newId });
    await this.db.batch([
      sql("UPDATE messages SET state = 'done', done_at = ? WHERE id = ?", this.now, message.id),
      ...this.#statements(decision, message.id),
    ]);
    this.#state = decision.state;
    if (crashes) await this.restart();
  }

  #statements(decision: Decision<ApprovalState>, cause: string): Statement[] {
    return [
      ...(decision.ops ?? []).flatMap((op) => this.#op(op)),
      ...(decision.send ?? []).flatMap((send) => this.#insert("approval", send, cause)),
    ];
  }

  #op(op: AnyOp): Statement[] {
    const context = { ref: "approval", kind: "approval", id: "approval", now: this.now };
    const statements = opStatements(op, context);
    if (!statements.ok) throw new Error(statements.error.message);
    return statements.value;
  }

  #insert(from: string, send: Send, cause?: string): Statement[] {
    const checked = checkSend(from, send);
    if (!checked.ok) throw new Error(checked.error.message);
    const { lane, payload } = checked.value;
    const { to, type, notBefore, dedupe } = send;
    return insertMessage({
      id: this.newId(),
      to,
      from,
      type,
      lane,
      payload,
      at: this.now,
      notBefore,
      dedupe,
      cause,
    });
  }

  /** What approval sent to others, in order; optionally of one type only. */
  async sent(type?: MessageType): Promise<Sent[]> {
    const rows = await this.db.query(
      sql(
        "SELECT to_ref, type, payload FROM messages WHERE from_ref = 'approval' AND to_ref <> 'approval' ORDER BY seq",
      ),
    );
    return objects<{ to_ref: string; type: string; payload: string }>(rows)
      .filter((row) => type === undefined || row.type === type)
      .map((row) => ({ to: row.to_ref, type: row.type, payload: JSON.parse(row.payload) }));
  }

  /** The first row of a query. */
  async row(text: string, ...args: (string | number)[]): Promise<Record<string, unknown> | undefined> {
    return objects<Record<string, unknown>>(await this.db.query(sql(text, ...args)))[0];
  }

  /** A conversation in channel 5, with the tools that tests use known. */
  async furnish(): Promise<void> {
    await this.db.batch([
      sql(
        `INSERT INTO conversations (id, title, source, channel_id, profile, status, created_at, updated_at)
         VALUES ('c1', 'Topic', 'channel', 5, 'default', 'running', 1, 1)`,
      ),
      sql(
        "INSERT INTO users (id, name, role, zulip_user_id, created_at, updated_at) VALUES ('u1', 'Ada', 'owner', 11, 1, 1)",
      ),
      sql(
        "INSERT INTO users (id, name, role, zulip_user_id, created_at, updated_at) VALUES ('u2', 'Bo', 'approver', 12, 1, 1)",
      ),
      sql(
        "INSERT INTO users (id, name, role, zulip_user_id, created_at, updated_at) VALUES ('u3', 'Cy', 'viewer', 13, 1, 1)",
      ),
      sql("INSERT INTO entitlements (user_id, channel_id, access, at) VALUES ('u2', 5, 'approve', 1)"),
      sql("INSERT INTO devices (id, user_id, name, created_at, seen_at) VALUES ('d1', 'u1', 'phone', 1, 1)"),
      sql(
        "INSERT INTO sessions (hash, user_id, device_id, csrf, created_at, authenticated_at, seen_at, expires_at) VALUES ('h', 'u1', 'd1', 'c', 1, 1, 1, ?)",
        this.now + 10 * 365 * 86_400_000,
      ),
    ]);
    await this.restart();
    const tool = (name: string, kind: string, source = "builtin") => ({
      name,
      source,
      class: kind,
      description: name,
      parameters: { type: "object" },
      schemaHash: `hash-${name}`,
      idempotent: kind === "read",
    });
    await this.post("toolbox", "tools.known", {
      sandbox: "bwrap",
      tools: [
        tool("read_file", "read"),
        tool("write_file", "write"),
        tool("exec_command", "exec"),
        tool("ask_user", "plan"),
        tool("mcp__mail__send", "mcp", "mcp:mail"),
      ],
    });
  }

  /** A call that the toolbox has described, sent to be judged. Resolves with the item that waits for it, if one does. */
  async judge(
    callId: string,
    tool: string,
    described: Partial<Described> = {},
    trigger: "person" | "schedule" = "person",
  ): Promise<string | undefined> {
    await this.db.batch([sql(
      `INSERT INTO tool_calls (id, conversation, turn_id, model_call_id, tool, arguments, triggered_by, state, digest, created_at, updated_at)
       VALUES (?, 'c1', 't1', ?, ?, '{}', ?, 'described', ?, 1, 1)`,
      callId,
      callId,
      tool,
      trigger,
      `digest-${callId}`,
    )]);
    await this.post("toolbox", "tool.judge", { ...this.judgePayload(callId, tool, described), trigger });
    return [...this.#state.items.values()].find((item) => item.callId === callId)?.id;
  }

  judgePayload(callId: string, tool: string, described: Partial<Described> = {}): Record<string, unknown> {
    const kind = this.#state.tools.find((known) => known.name === tool);
    return {
      callId,
      turnId: "t1",
      conversation: "c1",
      tool,
      arguments: "{}",
      digest: `digest-${callId}`,
      schemaHash: kind?.schemaHash ?? `hash-${tool}`,
      trigger: "person",
      described: {
        class: kind?.class ?? "exec",
        source: kind?.source ?? "builtin",
        summary: tool,
        paths: [],
        outside: [],
        sandboxed: true,
        askOnce: false,
        risk: "medium",
        idempotent: false,
        ...described,
      },
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.db.close();
    await Deno.remove(this.folder, { recursive: true });
  }
}

/** The owner as the edge sees them. */
export const owner: Viewer = { userId: "u1", role: "owner", channels: new Map() };

/** A desk with a conversation, people and tools. */
export async function furnished(): Promise<ApprovalDesk> {
  const desk = await ApprovalDesk.open();
  await desk.furnish();
  return desk;
}

/** Decides at the edge, as the owner, without letting approval look. */
export function put(
  desk: ApprovalDesk,
  itemId: string | undefined,
  body: DecisionBody,
  version = 1,
): Promise<Decided> {
  assert.ok(itemId, "an item waits");
  const by = { viewer: owner, name: "Ada", surface: "web" as const, device: "phone" };
  return decide(desk.db, { itemId, version, body, by, now: desk.now, newId: desk.newId });
}

/** Decides at the edge and lets approval apply it. */
export async function decided(
  desk: ApprovalDesk,
  itemId: string | undefined,
  body: DecisionBody,
): Promise<void> {
  const result = await put(desk, itemId, body);
  assert.ok(result.ok, "the edge took the decision");
  await desk.work();
}

/** The state of a call's row. */
export async function callState(desk: ApprovalDesk, id: string): Promise<unknown> {
  return (await desk.row("SELECT state FROM tool_calls WHERE id = ?", id))?.state;
}

/** The state of an item's row. */
export async function itemState(desk: ApprovalDesk, id: string | undefined): Promise<unknown> {
  return (await desk.row("SELECT state FROM pending_items WHERE id = ?", id ?? ""))?.state;
}

/** Changes settings of the gate, as the owner. */
export async function gate(desk: ApprovalDesk, change: Partial<GateSettings>): Promise<void> {
  const by = { userId: "u1", name: "Ada", surface: "web", role: "owner" };
  const command = { kind: "gate.settings", settings: GateSettings.parse(change) };
  await desk.post("edge", "approval.policy", { by, command });
  assert.equal((await desk.sent("policy.done")).at(-1)?.payload.ok, true);
}
