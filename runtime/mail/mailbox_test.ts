import assert from "node:assert/strict";
import fc from "fast-check";
import type { Mail } from "./mail.ts";
import { Mailbox } from "./mailbox.ts";

function mail(seq: number, more: Partial<Mail> = {}): Mail {
  return {
    seq,
    id: `m${seq}`,
    to: "a",
    from: "b",
    type: "t",
    lane: "normal",
    key: "k",
    payload: "null",
    cause: null,
    traceparent: null,
    at: 0,
    notBefore: null,
    replaces: null,
    started: false,
    intent: null,
    failures: 0,
    ...more,
  };
}

const seqs = (mails: readonly Mail[]) => mails.map(({ seq }) => seq);

Deno.test("a mailbox keeps order within a lane whatever comes, goes and comes back", () => {
  const steps = fc.array(
    fc.oneof(fc.constant("add"), fc.constant("take"), fc.constant("back"), fc.constant("done")),
  );
  fc.assert(fc.property(steps, (list) => {
    const box = new Mailbox();
    let next = 1;
    let hands: Mail[] = [];
    let lastDone = 0;
    for (const step of list) {
      if (step === "add") box.add(mail(next++));
      if (step === "take") hands.push(...box.take(0, 2));
      if (step === "back") {
        for (const { id } of hands.toReversed()) box.giveBack(id);
        hands = [];
      }
      const first = step === "done" ? hands.shift() : undefined;
      if (!first) continue;
      assert.equal(first.seq, ++lastDone);
      box.remove(first.id);
    }
    assert.equal(box.queued(), next - 1 - lastDone);
  }));
});

Deno.test("control comes before normal, and what is not due comes later", () => {
  const box = new Mailbox();
  box.add(mail(1, { notBefore: 50 }));
  box.add(mail(2));
  box.add(mail(3, { lane: "control" }));

  assert.deepEqual(seqs(box.take(0, 9)), [3, 2]);
  assert.equal(box.nextDue(0), 50);
  assert.equal(box.hasDue(49), false);
  assert.deepEqual(seqs(box.take(50, 9)), [1]);
});

Deno.test("a message is in a mailbox once", () => {
  const box = new Mailbox();

  assert.equal(box.add(mail(1)), true);
  assert.equal(box.add(mail(1)), false);
  assert.equal(box.take(0, 9).length, 1);
});

Deno.test("a newer message withdraws older ones of the same text that have not started", () => {
  const box = new Mailbox();
  box.add(mail(1, { replaces: "alarm", started: true }));
  box.add(mail(2, { replaces: "alarm", notBefore: 9 }));
  box.add(mail(3, { replaces: "other" }));
  box.add(mail(4, { replaces: "alarm" }));
  box.take(0, 9);

  assert.deepEqual(seqs(box.replacedBy("alarm", 4)), [2]);
  assert.deepEqual(seqs(box.replacedBy("alarm", 5)), [2, 4]);
});

Deno.test("a mailbox counts what waits, in all, of a key and by lane", () => {
  const box = new Mailbox();
  box.add(mail(1, { key: "a" }));
  box.add(mail(2, { key: "b", at: 40 }));
  box.add(mail(3, { lane: "control", at: 70 }));
  box.take(100, 1);
  box.remove("m1");

  assert.deepEqual([box.queued("a"), box.queued("b"), box.queued()], [0, 1, 2]);
  assert.deepEqual(box.depth(100), { control: 1, normal: 1, oldestMs: 60 });
});
