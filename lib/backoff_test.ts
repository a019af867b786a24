import assert from "node:assert/strict";
import fc from "fast-check";
import { backoffMs } from "./backoff.ts";

Deno.test("backoff doubles its bound until the cap", () => {
  const bounds = [0, 1, 2, 3, 4, 5].map((n) => backoffMs(n, { baseMs: 100, capMs: 1_000, random: () => 1 }));

  assert.deepEqual(bounds, [100, 200, 400, 800, 1_000, 1_000]);
});

Deno.test("backoff stays between zero and the cap for any attempt", () => {
  fc.assert(
    fc.property(fc.nat(5_000), fc.double({ min: 0, max: 0.999, noNaN: true }), (attempt, r) => {
      const ms = backoffMs(attempt, { baseMs: 100, capMs: 30_000, random: () => r });
      assert.ok(Number.isInteger(ms) && ms >= 0 && ms <= 30_000);
    }),
  );
});

Deno.test("backoff refuses an attempt that is no count", () => {
  assert.throws(() => backoffMs(-1, { baseMs: 1, capMs: 1, random: Math.random }), RangeError);
});
