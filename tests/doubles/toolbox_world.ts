/**
 * A toolbox with everything around it that is not the toolbox: a real database, real folders, and a hand that plays conversation and
 * approval. Every message that the toolbox sends is held against the catalogue.
 */
import assert from "node:assert/strict";
import { checkSend } from "../../actors/protocol.ts";
import { ToolJudge, ToolResult } from "../../actors/protocol/tools.ts";
import type { ToolboxConfig } from "../../actors/toolbox/config.ts";
import { createToolbox } from "../../actors/toolbox/gateway.ts";
import { systemClock } from "../../lib/clock.ts";
import type { Envelope, Gateway, Send } from "../../runtime/actor.ts";
import { type Db, objects, sql } from "../../store/db.ts";
import { bootstrap } from "../../store/migrate.ts";
import { openDb } from "../../store/open.ts";
import { opStatements } from "../../store/ops.ts";
import { GatewayContextDouble } from "./gateway_context.ts";

/** One opened world; `await using` closes it. */
export class ToolboxWorld implements AsyncDisposable {
  #calls = 0;

  private constructor(
    readonly folder: string,
    readonly db: Db,
    private context: GatewayContextDouble,
    private gateway: Gateway,
  ) {}

  /** Opens a toolbox on a fresh folder and database. */
  static async open(config: Partial<ToolboxConfig> = {}): Promise<ToolboxWorld> {
    const folder = await Deno.realPath(await Deno.makeTempDir({ prefix: "callboard_toolbox_" }));
    const db = await openDb({ url: `file:${folder}/test.db` });
    await bootstrap(db);
    const context = new GatewayContextDouble("toolbox", db, {
      workspaces: `${folder}/workspaces`,
      ...config,
    });
    const world = new ToolboxWorld(folder, db, context, newGateway());
    await world.gateway.start(context);
    await Deno.mkdir(world.workspace("c1"));
    return world;
  }

  get sent(): readonly Send[] {
    return this.context.sent;
  }

  get emitted(): readonly Send[] {
    return this.context.emitted;
  }

  /** The host folder of a conversation. */
  workspace(conversation = "c1"): string {
    return `${this.folder}/workspaces/${conversation}`;
  }

  /** Waits for a message that is sent now or later. */
  until(wanted: (send: Send) => boolean): Promise<Send> {
    return this.context.until(wanted);
  }

  /** The process dies and another one comes: nothing but rows and files is left. */
  async restart(): Promise<void> {
    const { context, gateway } = this;
    this.context = new GatewayContextDouble("toolbox", this.db, context.config);
    this.gateway = newGateway();
    context.stop();
    await gateway.stop?.();
    await this.gateway.start(this.context);
  }

  /** What the runtime does when it must stop. */
  async shutDown(): Promise<void> {
    this.context.stop();
    await this.gateway.stop?.();
  }

  /** Delivers a message, commits what comes of it, and checks all that was sent. */
  async deliver(
    message: Partial<Envelope> & Pick<Envelope, "type" | "payload">,
    resumed = false,
  ): Promise<void> {
    const { context, gateway } = this;
    const before = context.sent.length;
    const effects = await gateway.handle(context.delivery(message, resumed));
    if (context !== this.context) return; // That process is dead: nothing of it reaches the database any more.
    const committed = await context.commit(effects ?? {});
    assert.ok(committed.ok, JSON.stringify(committed));
    for (const send of [...context.sent.slice(before), ...context.emitted.slice(-1)]) {
      const checked = checkSend("toolbox", send);
      assert.ok(checked.ok, JSON.stringify(checked));
    }
  }

  /** Plays the conversation: the row and `tool.propose`. Resolves with the call's id. */
  async propose(
    tool: string,
    args: unknown,
    conversation = "c1",
    triggeredBy: "person" | "schedule" = "person",
    requestedBy?: readonly { readonly kind: "web" | "zulip"; readonly id: string }[],
  ): Promise<string> {
    const callId = `call-${++this.#calls}`;
    const text = typeof args === "string" ? args : JSON.stringify(args);
    const row = {
      op: "call.propose",
      callId,
      turnId: "turn-1",
      modelCallId: "m",
      tool,
      arguments: text,
      triggeredBy,
    };
    await this.#write(row, "conversation", conversation);
    const payload = { callId, turnId: "turn-1", tool, arguments: text, requestedBy };
    await this.deliver({ type: "tool.propose", from: `conversation/${conversation}`, payload });
    return callId;
  }

  /** What approval was asked about a call. */
  judged(callId: string): ToolJudge {
    const found = this.sent.findLast((send) => send.type === "tool.judge" && hasCall(send, callId));
    assert.ok(found, `no tool.judge for ${callId}`);
    return ToolJudge.parse(found.payload);
  }

  /** Plays approval: allows the call as it was described. Resolves when the toolbox has handled the grant. */
  async grant(
    callId: string,
    options: { digest?: string; resumed?: boolean; hidden?: readonly string[] } = {},
  ): Promise<void> {
    const judge = this.judged(callId);
    if (await this.state(callId) === "described") {
      await this.#write({ op: "call.move", callId, to: "judged" }, "approval", "approval");
    }
    const grant = { by: "rule", ref: "rule-1", digest: options.digest ?? judge.digest };
    const { hidden } = options;
    const payload = { callId, conversation: judge.conversation, grant, ...(hidden && { hidden }) };
    await this.deliver({ type: "tool.run", from: "approval", payload }, options.resumed);
  }

  /** The runtime delivers the grant again after a crash. */
  async redeliver(callId: string): Promise<void> {
    const rows = await this.rows<{ digest: string; conversation: string }>(
      "SELECT digest, conversation FROM tool_calls",
    );
    const grant = { by: "rule", ref: "rule-1", digest: rows[0]?.digest };
    const payload = { callId, conversation: rows[0]?.conversation, grant };
    await this.deliver({ type: "tool.run", from: "approval", payload }, true);
  }

  /** Plays the conversation: its turn stops. */
  async cancel(callId: string, conversation = "c1"): Promise<void> {
    const payload = { callId, reason: "the turn was stopped" };
    await this.deliver({
      type: "tool.cancel",
      from: `conversation/${conversation}`,
      lane: "control",
      payload,
    });
  }

  /** From now on nothing may begin. */
  loseLease(): void {
    this.context.acting = false;
  }

  /** Proposes, allows, and gives the result. */
  async call(tool: string, args: unknown, conversation = "c1"): Promise<ToolResult> {
    const callId = await this.propose(tool, args, conversation);
    await this.grant(callId);
    return this.result(callId);
  }

  /** The one result of a call. */
  result(callId: string): ToolResult {
    const found = this.sent.filter((send) => send.type === "tool.result" && hasCall(send, callId));
    assert.equal(found.length, 1, `${found.length} results for ${callId}`);
    return ToolResult.parse(found[0]?.payload);
  }

  /** Where the call's row stands. */
  async state(callId: string): Promise<string> {
    const rows = await this.db.query(sql("SELECT state FROM tool_calls WHERE id = ?", callId));
    return String(rows.rows[0]?.[0]);
  }

  /** Resolves when the rows are as wanted; asks again after whatever else is ready to run. */
  async untilRows<T>(text: string, wanted: (rows: readonly T[]) => boolean): Promise<readonly T[]> {
    for (;;) {
      const rows = await this.rows<T>(text);
      if (wanted(rows)) return rows;
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  }

  /** Any rows. */
  async rows<T>(text: string): Promise<T[]> {
    return objects<T>(await this.db.query(sql(text)));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.shutDown();
    await this.db.close();
    await Deno.remove(this.folder, { recursive: true });
  }

  /** Writes as another actor. */
  async #write(op: Readonly<Record<string, unknown>>, kind: string, id: string): Promise<void> {
    const made = opStatements(op, { ref: `${kind}/${id}`, kind, id, now: 1 });
    assert.ok(made.ok);
    await this.db.batch(made.value);
  }
}

function newGateway(): Gateway {
  return createToolbox({ clock: systemClock, random: () => 0 });
}

function hasCall(send: Send, callId: string): boolean {
  return typeof send.payload === "object" && send.payload !== null && "callId" in send.payload &&
    send.payload.callId === callId;
}
