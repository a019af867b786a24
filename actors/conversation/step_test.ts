/**
 * Model steps and tool calls by case: order, retries, bounds, and what the model is told.
 */
import assert from "node:assert/strict";
import { ada, asking, call, Desk, text } from "../../tests/doubles/conversation_desk.ts";
import { LOOP_CALLS, MAX_CALLS_PER_STEP } from "./calls.ts";
import { MAX_RETRIES, retryDelayMs } from "./retry.ts";
import { MAX_STEPS } from "./step.ts";

Deno.test("calls run one after another unless all their tools may run side by side", () => {
  const read = { name: "read_file", parallel: true };
  const mixed = asking([read, { name: "exec_command" }]);
  mixed.finish([call("read_file", "1"), call("exec_command", "2")], "tool_use");
  const reads = asking([read]);
  reads.finish([call("read_file", "1"), call("read_file", "2")], "tool_use");

  assert.deepEqual(mixed.sentOf("tool.propose").map((send) => send.payload.callId), ["t1.0.0"]);
  mixed.result("t1.0.0");
  assert.equal(mixed.last("tool.propose").payload.callId, "t1.0.1");
  assert.equal(reads.sentOf("tool.propose").length, 2);
});

Deno.test("results reach the model in call order, whatever order they come in", () => {
  const desk = asking([{ name: "read_file", parallel: true }]);
  desk.finish([call("read_file", "1", "same"), call("read_file", "2", "same")], "tool_use");
  desk.result("t1.0.1", { text: "second" });
  desk.result("t1.0.0", { text: "first", outcome: "failed" });

  assert.deepEqual(desk.last("model.stream").payload.items.slice(-2), [
    { type: "tool_result", callId: "t1.0.0", name: "read_file", ok: false, text: "first" },
    { type: "tool_result", callId: "t1.0.1", name: "read_file", ok: true, text: "second" },
  ]);
});

Deno.test("a passing failure is tried again with growing delays, five times", () => {
  const desk = asking();
  const delays: number[] = [];
  for (let n = 0; n < MAX_RETRIES; n++) {
    desk.fail({ class: "transient", message: "reset" });
    delays.push((desk.last("model.stream").notBefore ?? 0) - desk.now);
    desk.now += 10_000;
  }
  desk.fail({ class: "transient", message: "reset" });

  delays.forEach((delay, n) => assert.ok(delay >= 180 * 2 ** n && delay <= 220 * 2 ** n, `${delay}`));
  assert.deepEqual(desk.logged("stream_error").map((error) => error.message).at(-1), "Reconnecting 5/5");
  assert.equal(desk.logged("error")[0]?.code, "too_many_attempts");
  assert.equal(desk.logged("task_complete")[0]?.status, "failed");
  assert.match(desk.last("topic.answer").payload.text, /^\*error: the model could not be reached/);
});

Deno.test("whether and when a failure is retried depends on its class", () => {
  const delay = (kind: Parameters<typeof retryDelayMs>[0]["class"], retryAfterMs?: number) =>
    retryDelayMs(
      { class: kind, message: "", ...(retryAfterMs === undefined ? {} : { retryAfterMs }) },
      1,
      "seed",
    );

  assert.equal(delay("rate_limit", 1234.5), 1235);
  assert.equal(delay("rate_limit", 3_600_000), undefined);
  assert.ok((delay("rate_limit") ?? 0) >= 1800);
  for (
    const kind of ["context_too_long", "usage_limit", "bad_request", "auth", "refusal", "fatal"] as const
  ) {
    assert.equal(delay(kind), undefined, kind);
  }
});

Deno.test("a step starts its count of retries anew", () => {
  const desk = asking();
  desk.fail({ class: "transient", message: "reset" });
  desk.finish([call("exec_command")], "tool_use");
  desk.result("t1.0.0");
  desk.fail({ class: "transient", message: "reset" });

  assert.deepEqual(desk.logged("stream_error").map((error) => error.retry), [1, 1]);
});

Deno.test("calls completed before a failure run and are answered before the step is retried", () => {
  const desk = asking();
  desk.fail({ class: "transient", message: "reset" }, [call("exec_command")]);
  assert.equal(desk.sentOf("model.stream").length, 1);
  desk.now += 5000;
  desk.result("t1.0.0", { text: "ran" });

  const retry = desk.last("model.stream");
  assert.deepEqual([retry.payload.step, retry.payload.attempt, retry.notBefore], [0, 1, undefined]);
  assert.equal(retry.payload.items.at(-1)?.type, "tool_result");
  desk.finish([call("exec_command")], "tool_use");
  assert.equal(desk.last("tool.propose").payload.callId, "t1.0.1");
});

Deno.test("calls completed before a failure that ends the turn do not run", () => {
  const desk = asking();
  desk.fail({ class: "auth", message: "401" }, [call("exec_command")]);

  assert.equal(desk.sentOf("tool.propose").length, 0);
  assert.equal(desk.logged("exec_command_end")[0]?.outcome, "cancelled");
  assert.match(desk.last("topic.answer").payload.text, /refused our key/);
});

Deno.test("a refused exchange is not sent to a model again", () => {
  const desk = asking();
  desk.finish([text("I can")], "refusal");
  desk.say("something else", {}, "t2");
  desk.tools();

  const said = JSON.stringify(desk.last("model.stream").payload.items);
  assert.ok(!said.includes("deploy it") && !said.includes("I can"), said);
  assert.match(desk.sentOf("topic.answer")[0]?.payload.text ?? "", /refused to answer/);
});

Deno.test("an empty answer is repeated silently, then asked for, then admitted", () => {
  const desk = asking();
  desk.finish([]);
  desk.finish([text("  ")]);
  desk.finish([]);

  const attempts = desk.sentOf("model.stream").map(({ payload }) => [payload.step, payload.attempt]);
  assert.deepEqual(attempts, [[0, 0], [0, 1], [1, 0]]);
  assert.match(JSON.stringify(desk.last("model.stream").payload.items), /last response was empty/);
  assert.equal(desk.logged("warning")[0]?.code, "empty_response");
  assert.match(desk.last("topic.answer").payload.text, /gave no answer/);
});

Deno.test("an answer cut by the output limit is continued once", () => {
  const desk = asking();
  desk.finish([text("half")], "length");
  desk.finish([text("three quarters")], "length");

  assert.match(desk.last("topic.answer").payload.text, /^half\n\nthree quarters\n\n\*\(cut:/);
  assert.equal(desk.logged("task_complete").length, 1);
});

Deno.test("a turn ends after its last allowed step and says so", () => {
  const desk = asking();
  for (let step = 0; step < MAX_STEPS; step++) {
    desk.finish([call("exec_command", `${step}`)], "tool_use");
    desk.result(desk.last("tool.propose").payload.callId);
  }

  assert.equal(desk.sentOf("model.stream").length, MAX_STEPS);
  assert.equal(desk.logged("warning")[0]?.code, "max_turn_requests");
  assert.match(desk.last("topic.answer").payload.text, /stopped after 50 model steps/);
});

Deno.test("a model that makes one call over and over is told, then stopped", () => {
  const desk = asking();
  for (let n = 1; n < LOOP_CALLS; n++) {
    desk.finish([call("exec_command", "same")], "tool_use");
    desk.result(desk.last("tool.propose").payload.callId, { text: "no change" });
  }
  desk.finish([call("exec_command", "same")], "tool_use");

  assert.equal(desk.sentOf("tool.propose").length, LOOP_CALLS - 1);
  assert.match(desk.logged("exec_command_end")[4]?.text ?? "", /made 5 times/);
  assert.equal(desk.logged("error")[0]?.code, "loop_guard");
});

Deno.test("calls beyond a step's bound are answered and not carried out", () => {
  const desk = asking([{ name: "read_file" }]);
  desk.finish(
    Array.from({ length: MAX_CALLS_PER_STEP + 1 }, (_, n) => call("read_file", `${n}`)),
    "tool_use",
  );

  assert.deepEqual(desk.logged("tool_call_end").map((end) => [end.callId, end.outcome]), [[
    "t1.0.64",
    "invalid",
  ]]);
});

Deno.test("a call whose arguments nobody could carry is answered and the turn goes on", () => {
  const desk = asking();
  desk.finish([call("exec_command", "x".repeat(1_000_001))], "tool_use");

  assert.equal(desk.sentOf("tool.propose").length, 0);
  assert.match(JSON.stringify(desk.last("model.stream").payload.items.at(-1)), /arguments are longer/);
});

Deno.test("a long result is cut in the middle and says so, on character borders", () => {
  const desk = asking();
  desk.finish([call("exec_command")], "tool_use");
  desk.result("t1.0.0", { text: `exit 0\n${"🙂".repeat(40_000)}end` });

  const kept = desk.logged("exec_command_end")[0]?.text ?? "";
  assert.ok(kept.length < 41_000 && kept.startsWith("exit 0") && kept.endsWith("end"));
  assert.match(kept, /characters left out/);
  assert.ok(kept.isWellFormed());
});

Deno.test("a request that came to nothing still gives the turn an answer", () => {
  const failed = { request: "r", code: "poison", message: "dead letter", turnId: "t1" };
  const listing = new Desk();
  listing.say("hi", {}, "t1");
  listing.deliver("request.failed", { ...failed, type: "tools.list" });
  const sampling = asking();
  sampling.deliver("request.failed", { ...failed, type: "model.stream" });
  const crowded = asking();
  crowded.deliver("request.failed", { ...failed, type: "model.stream", code: "mailbox_full" });
  const executing = asking();
  executing.finish([call("exec_command")], "tool_use");
  executing.deliver("request.failed", { ...failed, type: "tool.propose", callId: "t1.0.0" });

  assert.equal(listing.last("topic.answer").payload.status, "failed");
  assert.equal(sampling.last("topic.answer").payload.status, "failed");
  assert.equal(crowded.last("model.stream").payload.attempt, 1);
  assert.match(JSON.stringify(executing.last("model.stream").payload.items), /not run: dead letter/);
});

Deno.test("another model counts from the next turn", () => {
  const desk = asking();
  desk.deliver("conversation.set_model", { by: ada, model: "acme/small" });
  desk.finish([text("large")]);
  desk.say("again");
  desk.tools();

  assert.equal(desk.last("topic.answer").payload.footer, "acme/large");
  assert.equal(desk.last("model.stream").payload.model, "acme/small");
});

Deno.test("tools are written to the log only when they changed", () => {
  const desk = asking();
  desk.finish([text("one")]);
  desk.say("two");
  desk.tools({ name: "exec_command" });
  desk.finish([text("two")]);
  desk.say("three");
  desk.tools({ name: "read_file" });

  assert.deepEqual(desk.logged("tools_listed").map((listed) => listed.tools?.[0]?.name), [
    "exec_command",
    undefined,
    "read_file",
  ]);
});

Deno.test("a turn has the model and the instructions of its profile, unless a person chose a model", () => {
  const desk = new Desk("acme/large");
  const asked = () => {
    const { model, system } = desk.last("model.stream").payload;
    return [model, system.endsWith("\n\nWrite well.")];
  };
  desk.say("one");
  desk.given({ model: "acme/small", instructions: "Write well." });
  assert.deepEqual(asked(), ["acme/small", true]);
  desk.finish([text("one")]);

  desk.deliver("conversation.set_model", { model: "acme/chosen", by: ada });
  desk.restart();
  desk.say("two");
  desk.given({ model: "acme/small", instructions: "Write well." });
  assert.deepEqual(asked(), ["acme/chosen", true]);
  desk.finish([text("two")]);
  desk.say("three");
  desk.given({});
  assert.deepEqual(asked(), ["acme/chosen", false]);
  assert.deepEqual(desk.logged("tools_listed").map(({ instructions }) => instructions), [
    "Write well.",
    undefined,
    "",
  ]);
});
