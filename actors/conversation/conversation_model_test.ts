/**
 * Random histories: people, models and tools answer in any order, late, twice or not at all, and the actor dies at any point.
 */
import assert from "node:assert/strict";
import fc from "fast-check";
import { ada, call, Desk, durable, text, topic, usage } from "../../tests/doubles/conversation_desk.ts";
import type { PayloadOf } from "../protocol.ts";
import { attemptKey, openCalls, statusOf } from "./state.ts";

type Action = (desk: Desk) => void;

/** Picks a request that was ever sent: answered, stale or open. */
function pick<T>(list: readonly T[], n: number): T | undefined {
  return list.length === 0 ? undefined : list[list.length - 1 - (n % Math.min(list.length, 4))];
}

const items = fc.array(
  fc.oneof(
    fc.constantFrom("hello", " ", "<<SILENT>>", "more").map((words) => text(words)),
    fc.constantFrom(...["read_file", "exec_command", "mcp__x__y"].map((name) => call(name))),
  ),
  { maxLength: 4 },
);

/** Mostly the newest. */
const n = fc.oneof({ weight: 5, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat(3) });
const at = <T extends { turnId: string; step: number; attempt: number }>({ turnId, step, attempt }: T) => ({
  turnId,
  step,
  attempt,
});

const actions: fc.Arbitrary<{ name: string; run: Action }> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ mode: fc.constantFrom("queue", "steer", "start"), addressed: fc.boolean() }).map((
      options,
    ) => ({
      name: `say ${options.mode}`,
      run: (desk: Desk) => desk.say("words", options),
    })),
  },
  {
    weight: 6,
    arbitrary: n.map((i) => ({
      name: "tools",
      run: (desk: Desk) => {
        const asked = pick(desk.sentOf("tools.list"), i);
        const tools = [{ name: "read_file", description: "", parameters: {}, parallel: true }];
        if (asked) desk.deliver("tools.listed", { turnId: asked.payload.turnId, tools });
      },
    })),
  },
  {
    weight: 12,
    arbitrary: fc.record({
      i: n,
      items,
      stopReason: fc.constantFrom("stop", "tool_use", "length", "refusal"),
    }).map((
      reply,
    ) => ({
      name: "finish",
      run: (desk: Desk) => {
        const asked = pick(desk.sentOf("model.stream"), reply.i)?.payload;
        if (asked) {
          const { items, stopReason } = reply;
          desk.deliver("model.finished", { ...at(asked), model: asked.model, items, stopReason, usage });
        }
      },
    })),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      i: n,
      items,
      kind: fc.constantFrom("transient", "rate_limit", "auth", "aborted", "refusal"),
    })
      .map(
        (reply) => ({
          name: `fail ${reply.kind}`,
          run: (desk: Desk) => {
            const asked = pick(desk.sentOf("model.stream"), reply.i)?.payload;
            const error = { class: reply.kind, message: "no" } as PayloadOf<"model.failed">["error"]; // one of its classes
            if (asked) desk.deliver("model.failed", { ...at(asked), error, items: reply.items });
          },
        }),
      ),
  },
  {
    weight: 4,
    arbitrary: fc.record({ i: n, seq: n, kind: fc.constantFrom("text", "reasoning", "tool_input") }).map((
      piece,
    ) => ({
      name: "delta",
      run: (desk: Desk) => {
        const asked = pick(desk.sentOf("model.stream"), piece.i)?.payload;
        if (!asked) return;
        const { seq, kind } = piece;
        const decision = desk.deliver("model.delta", { ...at(asked), seq, kind, index: 0, delta: "abc" });
        assert.deepEqual(decision.events, [], "a delta writes nothing");
      },
    })),
  },
  {
    weight: 14,
    arbitrary: fc.record({
      i: n,
      outcome: fc.constantFrom("finished", "failed", "invalid", "rejected", "cancelled"),
      stopTurn: fc.boolean(),
    }).map((end) => ({
      name: "result",
      run: (desk: Desk) => {
        const proposed = pick(desk.sentOf("tool.propose"), end.i)?.payload;
        if (proposed) {
          desk.result(proposed.callId, { outcome: end.outcome, stopTurn: end.stopTurn && end.i === 0 });
        }
      },
    })),
  },
  {
    weight: 3,
    arbitrary: fc.record({ i: n, kind: fc.constantFrom("approval", "question", "elicitation") }).map((
      { i, kind },
    ) => ({
      name: `waiting ${kind}`,
      run: (desk: Desk) => {
        const proposed = pick(desk.sentOf("tool.propose"), i)?.payload;
        if (proposed) desk.deliver("call.waiting", { callId: proposed.callId, itemId: "i1", kind });
      },
    })),
  },
  {
    weight: 3,
    arbitrary: n.map((i) => ({
      name: "decided",
      run: (desk: Desk) => {
        const callId = pick(desk.sentOf("tool.propose"), i)?.payload.callId;
        if (callId) desk.deliver("call.decided", { callId, itemId: "i1", decision: "allow_once", by: "Ada" });
      },
    })),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      i: n,
      type: fc.constantFrom("tools.list", "model.stream", "tool.propose", "topic.answer"),
    })
      .map(
        ({ i, type }) => ({
          name: `refused ${type}`,
          run: (desk: Desk) => {
            const request = pick(desk.sent.filter((send) => send.type === type), i);
            if (!request) return;
            const ids = request.payload as { turnId?: string; callId?: string }; // each of these payloads has them
            desk.deliver("request.failed", { request: "r", type, code: "poison", message: "no", ...ids });
          },
        }),
      ),
  },
  {
    weight: 1,
    arbitrary: fc.constant({
      name: "stop",
      run: (desk: Desk) => void desk.deliver("conversation.stop", { by: ada }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.constant({
      name: "reset",
      run: (desk: Desk) => void desk.deliver("conversation.reset", { by: ada }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.constant({
      name: "model",
      run: (desk: Desk) => void desk.deliver("conversation.set_model", { by: ada, model: "acme/small" }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.constantFrom(0, 1, 2).map((crashes) => ({
      name: `restart ${crashes}`,
      run: (desk: Desk) => desk.restart(crashes),
    })),
  },
);

/** Each call has exactly one result, after it, with nothing between a step's calls and their results but its own items. */
function checkPrompt(request: PayloadOf<"model.stream">): void {
  const open: string[] = [];
  const seen = new Set<string>();
  for (const item of request.items) {
    if (item.type === "tool_call") {
      assert.ok(!seen.has(item.callId), "call ids are unique");
      seen.add(item.callId);
      open.push(item.callId);
    } else if (item.type === "tool_result") {
      assert.equal(item.callId, open.shift(), "results come in call order");
    } else if (item.type === "user") {
      assert.equal(open.length, 0, "no words come between a call and its result");
    }
  }
  assert.equal(open.length, 0, "no call is left without a result");
}

/** Answers whatever the running turn waits for; fails when it waits for something that nobody was asked. */
function drain(desk: Desk): void {
  for (let round = 0; desk.state.turn; round++) {
    assert.ok(round < 10_000, "the conversation comes to rest");
    const turn = desk.state.turn;
    if (turn.phase === "listing") {
      assert.equal(desk.last("tools.list").payload.turnId, turn.id);
      desk.tools();
    } else if (turn.phase === "sampling") {
      const { turnId, step, attempt } = desk.last("model.stream").payload;
      assert.deepEqual([turnId, step, attempt], [turn.id, turn.step, turn.attempt]);
      desk.finish([text("fine")]);
    } else {
      const underway = openCalls(turn).filter((call) => call.state !== "begun");
      assert.ok(underway.length > 0, "somebody works on a call");
      for (const { callId } of underway) desk.result(callId);
    }
  }
}

function checkLog(desk: Desk): void {
  const count = (values: readonly string[]) => values.toSorted();
  const events = desk.events;
  assert.deepEqual(events.map((event) => event.seq), events.map((_, index) => index + 1));
  assert.deepEqual(
    count(desk.logged("task_started").map((p) => p.turnId)),
    count([...desk.logged("task_complete"), ...desk.logged("turn_aborted")].map((p) => p.turnId)),
    "each turn has one terminal record",
  );
  const ofCalls = (suffix: string) =>
    events.flatMap((event) =>
      event.type.endsWith(suffix) && "callId" in event.payload ? [event.payload.callId] : []
    );
  assert.deepEqual(count(ofCalls("_begin")), count(ofCalls("_end")), "each begin has one end");
  assert.deepEqual(
    count(desk.logged("input_queued").map((p) => p.id)),
    count(desk.logged("user_message").map((p) => p.id)),
    "each input is said to a model once",
  );
  const answered = desk.logged("step_completed").map(attemptKey);
  assert.equal(new Set(answered).size, answered.length, "each attempt is answered once");
  const finals = desk.sentOf("topic.answer").map((send) => send.payload.turnId);
  assert.deepEqual(
    count(finals),
    count(desk.logged("task_started").map((p) => p.turnId)),
    "each turn is answered",
  );
}

Deno.test("conversation keeps its promises in any order of messages, deaths and late answers", () => {
  fc.assert(
    fc.property(fc.array(actions, { minLength: 20, maxLength: 80, size: "max" }), (steps) => {
      const desk = new Desk();
      desk.say("first", { source: topic });
      let checked = 0;
      for (const { run } of steps) {
        desk.now += 250;
        run(desk);
        assert.deepEqual(durable(desk.restored()), durable(desk.state), "a restart changes nothing");
        assert.ok(desk.state.turn ?? desk.state.queue.length === 0, "nothing waits while nothing runs");
        assert.equal(desk.status, statusOf(desk.state), "the row shows the status");
        for (const request of desk.sentOf("model.stream").slice(checked)) checkPrompt(request.payload);
        checked = desk.sentOf("model.stream").length;
      }
      drain(desk);
      checkLog(desk);
    }),
    { numRuns: 150 },
  );
});
