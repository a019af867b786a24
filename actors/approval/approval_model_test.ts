/**
 * Proves by random histories what no single case can: whatever people, clocks, stops, restarts and policy changes do between two looks of the
 * actor, a call ends once, as the winning decision says, and the actor is the same after a restart. A failure prints its seed and history.
 */
import assert from "node:assert/strict";
import fc from "fast-check";
import { objects, sql } from "../../store/db.ts";
import { verifyChain } from "../../store/queries/chain.ts";
import type { ApprovalState } from "./state.ts";
import { ApprovalDesk, furnished, put } from "../../tests/doubles/approval_desk.ts";

const CALLS = ["a", "b", "c", "d"] as const;
const TOOLS = ["exec_command", "write_file", "mcp__mail__send"] as const;
const WEEK_MS = 7 * 86_400_000;

type Step =
  | { readonly kind: "judge"; readonly call: string; readonly tool: string }
  | {
    readonly kind: "decide";
    readonly call: string;
    readonly decision: "allow_once" | "allow_session" | "reject_once" | "cancel";
  }
  | { readonly kind: "react"; readonly call: string; readonly emoji: string }
  | { readonly kind: "stop"; readonly call: string }
  | { readonly kind: "rule"; readonly action: "allow" | "deny"; readonly tool: string }
  | { readonly kind: "switch"; readonly command: "effects.suspend" | "effects.resume" }
  | { readonly kind: "look" | "restart" | "week" | "reset" };

const call = fc.constantFrom(...CALLS);
const tool = fc.constantFrom(...TOOLS);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("judge" as const), call, tool }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant("decide" as const),
      call,
      decision: fc.constantFrom("allow_once", "allow_session", "reject_once", "cancel"),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant("react" as const), call, emoji: fc.constantFrom("+1", "-1") }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("stop" as const), call }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("rule" as const),
      action: fc.constantFrom("allow", "deny"),
      tool,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("switch" as const),
      command: fc.constantFrom("effects.suspend", "effects.resume"),
    }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constantFrom("look", "restart", "week", "reset") }) },
);

const by = { userId: "u1", name: "Ada", surface: "web", role: "owner" };

/** One thing that happens; only `judge` and `look` let the actor work. */
async function happen(desk: ApprovalDesk, now: Step): Promise<void> {
  const item = "call" in now
    ? [...desk.state.items.values()].find((open) => open.callId === now.call)
    : undefined;
  switch (now.kind) {
    case "judge": {
      if (await desk.row("SELECT 1 FROM tool_calls WHERE id = ?", now.call)) return;
      const itemId = await desk.judge(now.call, now.tool);
      const messageId = 900 + CALLS.findIndex((name) => name === now.call);
      if (itemId) await desk.queue("zulip", "card.shown", { itemId, version: 1, messageId, whole: true });
      return;
    }
    case "decide":
      if (item) await put(desk, item.id, { decision: now.decision });
      return;
    case "react": {
      const messageId = 900 + CALLS.findIndex((name) => name === now.call);
      return await desk.queue("zulip", "approval.react", {
        messageId,
        zulipUserId: 11,
        name: "Ada",
        emoji: now.emoji,
      });
    }
    case "stop":
      return await desk.queue("conversation/c1", "tool.cancel", { callId: now.call, reason: "stopped" });
    case "rule": {
      const rule = { action: now.action, toolPattern: now.tool };
      return await desk.queue("edge", "approval.policy", { by, command: { kind: "rule.create", rule } });
    }
    case "switch":
      return await desk.queue("edge", "approval.policy", { by, command: { kind: now.command } });
    case "reset":
      return await desk.queue("conversation/c1", "session.ended", { reason: "reset" });
    case "week":
      desk.now += WEEK_MS;
      return;
    case "restart":
      return await desk.restart();
    case "look":
      return await desk.work();
    default:
      return now satisfies never;
  }
}

/** Lets everything come to its end: what is held goes, what waits expires. */
async function finish(desk: ApprovalDesk): Promise<void> {
  await desk.queue("edge", "approval.policy", { by, command: { kind: "effects.resume" } });
  await desk.work();
  desk.now += WEEK_MS;
  await desk.work();
}

async function check(desk: ApprovalDesk): Promise<void> {
  const sent = await desk.sent();
  const calls = objects<{ id: string; state: string; decision: string | null }>(
    await desk.db.query(sql(
      `SELECT c.id, c.state, json_extract(p.decision, '$.decision') AS decision FROM tool_calls c
       LEFT JOIN pending_items p ON p.call_id = c.id`,
    )),
  );
  for (const { id, state, decision } of calls) {
    // It may be sent again when everything is lifted; the toolbox begins it once, by its row.
    const runs = sent.some((message) => message.type === "tool.run" && message.payload.callId === id) ? 1 : 0;
    const results = sent.filter((message) =>
      message.type === "tool.result" && message.payload.callId === id
    ).length;
    const withdrawnWhileHeld = state === "judged" || state === "decided";
    assert.equal(runs + results, withdrawnWhileHeld && runs === 0 ? 0 : 1, `call ${id} (${state}) ends once`);
    if (runs === 1) {
      assert.ok(
        decision === null || decision.startsWith("allow"),
        `call ${id} ran against ${decision}`,
      );
    }
    if (decision === "reject_once" || decision === "cancel") {
      assert.ok(
        ["rejected", "cancelled"].includes(state),
        state,
      );
    }
  }
  const open = await desk.row(
    "SELECT count(*) AS n FROM pending_items WHERE state IN ('waiting', 'decided')",
  );
  assert.equal(open?.n, 0, "nothing is left open");
  assert.equal((await verifyChain(desk.db)).ok, true);
}

/** What must be the same after a restart; order counts nowhere, and what has ended may be remembered a little longer while alive. */
function comparable(state: ApprovalState, now: number) {
  const byId = (a: { readonly id: string }, b: { readonly id: string }) => a.id < b.id ? -1 : 1;
  const { rules, tools, items, head, suspended, held, users, groups, profiles } = state;
  return {
    rules: rules?.toSorted(byId),
    bypasses: state.bypasses.filter((bypass) => bypass.expiresAt > now).toSorted(byId),
    ...{ tools, items, head, suspended, held, users, groups, profiles },
  };
}

Deno.test("a call ends once and as the winning decision says, through any history", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 30 }), async (steps) => {
      await using desk = await furnished();
      for (const now of steps) await happen(desk, now);
      await finish(desk);
      await check(desk);
      const live = comparable(desk.state, desk.now);
      await desk.restart();
      assert.deepEqual(comparable(desk.state, desk.now), live);
    }),
    { numRuns: 40 },
  );
});
