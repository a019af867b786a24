import assert from "node:assert/strict";
import { isSealed, newSealKey, seal } from "./sealed.ts";

Deno.test("only the key that was sealed to opens, and only what nobody touched", async () => {
  const [mine, other] = [await newSealKey(), await newSealKey()];
  const text = "pässword\n\u0000".repeat(100);

  const sealed = await seal(mine.sealTo, text);

  assert.ok(isSealed(sealed) && !isSealed(text));
  assert.equal(await mine.open(sealed), text);
  assert.equal(await other.open(sealed), undefined);
  assert.equal(await mine.open(sealed.slice(0, -2) + (sealed.endsWith("AA") ? "BB" : "AA")), undefined);
  assert.equal(await mine.open(text), undefined);
  assert.notEqual(await seal(mine.sealTo, text), sealed, "the same text never looks the same");
  await assert.rejects(seal({ x: "AA", y: "AA" }, text));
});
