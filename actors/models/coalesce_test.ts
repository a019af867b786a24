import { deepEqual, equal } from "node:assert/strict";
import type { ModelDelta } from "../protocol/model.ts";
import { FakeClock } from "../../tests/doubles/fake_clock.ts";
import { coalesceDeltas } from "./coalesce.ts";
import type { StreamDelta } from "./model_stream.ts";

function setUp(maxChars?: number) {
  const clock = new FakeClock();
  const emitted: ModelDelta[] = [];
  const coalescer = coalesceDeltas({
    clock,
    attempt: { turnId: "t", step: 2, attempt: 1 },
    emit: (delta) => emitted.push(delta),
    ...(maxChars === undefined ? {} : { maxChars }),
  });
  return { clock, emitted, coalescer };
}

const text = (delta: string, index = 0): StreamDelta => ({ kind: "text", index, delta });

Deno.test("coalescer joins what arrives within 50 ms, and numbers from 0 without holes", async () => {
  const { clock, emitted, coalescer } = setUp();

  coalescer.push(text("a"));
  coalescer.push(text("b"));
  await clock.advance(49);
  equal(emitted.length, 0);
  await clock.advance(1);
  coalescer.push(text(""));
  coalescer.push(text("c"));
  await clock.advance(50);

  deepEqual(emitted, [
    { turnId: "t", step: 2, attempt: 1, seq: 0, kind: "text", index: 0, delta: "ab" },
    { turnId: "t", step: 2, attempt: 1, seq: 1, kind: "text", index: 0, delta: "c" },
  ]);
});

Deno.test("coalescer never joins pieces of different items", () => {
  const { emitted, coalescer } = setUp();

  coalescer.push(text("a", 0));
  coalescer.push({ kind: "tool_input", index: 1, delta: "{", callId: "c1" });
  coalescer.push({ kind: "tool_input", index: 1, delta: "}", callId: "c1" });
  coalescer.push({ kind: "tool_input", index: 2, delta: "{}", callId: "c2" });
  coalescer.close();

  deepEqual(emitted.map(({ index, delta, callId }) => [index, delta, callId]), [
    [0, "a", undefined],
    [1, "{}", "c1"],
    [2, "{}", "c2"],
  ]);
});

Deno.test("coalescer sends a large piece at once", () => {
  const { emitted, coalescer } = setUp(4);

  coalescer.push(text("ab"));
  coalescer.push(text("cd"));

  deepEqual(emitted.map((delta) => delta.delta), ["abcd"]);
});

Deno.test("coalescer emits the rest on close and nothing after it", async () => {
  const { clock, emitted, coalescer } = setUp();

  coalescer.push(text("a"));
  coalescer.close();
  coalescer.push(text("b"));
  await clock.advance(1_000);

  deepEqual(emitted.map((delta) => delta.delta), ["a"]);
});
