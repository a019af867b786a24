/** Proves `decision_chain.ts`: any change, loss or swap of an entry is found at the entry where it shows. */
import assert from "node:assert/strict";
import { type Entry, follow, genesis, seal } from "./decision_chain.ts";

function chain(length: number): Entry[] {
  const entries: Entry[] = [];
  for (let index = 0; index < length; index++) {
    const facts = {
      at: 1000 + index,
      kind: "decision",
      itemId: `i${index}`,
      callId: null,
      conversation: "c",
      actor: "u1",
      surface: "web",
      device: null,
      decision: "allow_once",
      digest: null,
      body: "{}",
    };
    entries.push(seal(entries.at(-1) ?? genesis, facts));
  }
  return entries;
}

Deno.test("an untouched chain follows from its beginning and from any page", () => {
  const entries = chain(6);

  assert.equal(follow(genesis, entries).brokenAt, undefined);
  const half = follow(genesis, entries.slice(0, 3));
  assert.deepEqual(follow(half.head, entries.slice(3)).head, { seq: 6, hash: entries[5]?.hash });
});

Deno.test("a chain shows where it was tampered with", () => {
  const entries = chain(5);
  const [a, b, c, d, e] = entries as [Entry, Entry, Entry, Entry, Entry]; // chain(5) made five

  assert.equal(follow(genesis, [a, { ...b, decision: "reject_once" }, c, d, e]).brokenAt, 2);
  assert.equal(follow(genesis, [a, b, d, e]).brokenAt, 4);
  assert.equal(follow(genesis, [a, c, b, d, e]).brokenAt, 3);
  assert.equal(follow(genesis, [b, c, d, e]).brokenAt, 2);
  const forged = seal(a, { ...b, actor: "u2" });
  assert.equal(follow(genesis, [a, forged, c]).brokenAt, 3);
});
