import assert from "node:assert/strict";
import fc from "fast-check";
import { FakeClock } from "../../../tests/doubles/fake_clock.ts";
import { HeadTail } from "./output.ts";
import { LiveOutput } from "./live_output.ts";

Deno.test("an output that fits is kept as it is, however it came", () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: "grapheme", maxLength: 8 }), { maxLength: 10 }), (parts) => {
      const kept = new HeadTail(1_000);
      for (const part of parts) kept.add(part);
      assert.equal(kept.text(), parts.join(""));
    }),
  );
});

Deno.test("a longer output keeps its beginning and its end and says how much is missing", () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: "grapheme", maxLength: 40 }), { minLength: 30 }), (parts) => {
      const whole = parts.join("");
      fc.pre(whole.length > 40);
      const kept = new HeadTail(40);
      for (const part of parts) kept.add(part);

      const match = /^([^]*)\n\[… (\d+) of (\d+) characters were cut here and not kept …\]\n([^]*)$/.exec(
        kept.text(),
      );

      assert.ok(match);
      const [, head = "", missing, total, tail = ""] = match;
      assert.ok(whole.startsWith(head) && whole.endsWith(tail));
      assert.ok(head.length <= 20 && tail.length <= 20 && head.length + tail.length >= 37);
      assert.equal(Number(total), whole.length);
      assert.equal(head.length + tail.length + Number(missing), whole.length);
      assert.ok(!whole.isWellFormed() || (head.isWellFormed() && tail.isWellFormed()));
    }),
  );
});

Deno.test("live output is joined for 50 ms and whole characters only", async () => {
  const clock = new FakeClock();
  const chunks: string[] = [];
  let all = "";
  const live = new LiveOutput(
    clock,
    (text) => void (all += text),
    (stream, chunk) => chunks.push(`${stream}:${chunk}`),
  );
  const euro = new TextEncoder().encode("€");

  live.add("stdout", new TextEncoder().encode("a"));
  live.add("stdout", euro.slice(0, 2));
  live.add("stderr", new TextEncoder().encode("e"));
  live.add("stdout", euro.slice(2));
  assert.equal(chunks.length, 0);
  await clock.advance(50);
  assert.deepEqual(chunks, ["stdout:a€", "stderr:e"]);
  live.add("stdout", new TextEncoder().encode("€".repeat(5_000)));
  live.end();

  assert.equal(all, `ae€${"€".repeat(5_000)}`);
  assert.ok(chunks.every((chunk) => new TextEncoder().encode(chunk.slice(7)).length <= 8_192));
  assert.equal(clock.pending, 0);
});

Deno.test("after ten thousand pieces live output is silent while collecting goes on", () => {
  const clock = new FakeClock();
  let pieces = 0;
  let collected = 0;
  const live = new LiveOutput(clock, (text) => void (collected += text.length), () => pieces++);
  const piece = new Uint8Array(2_700).fill(97);

  for (let i = 0; i < 10_050; i++) live.add("stdout", piece);
  live.end();

  assert.equal(pieces, 10_000);
  assert.equal(collected, 10_050 * 2_700);
});
