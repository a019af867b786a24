import assert from "node:assert/strict";
import fc from "fast-check";
import { BadFrame, FrameReader, FrameWriter } from "./frames.ts";
import { Outbox } from "./outbox.ts";

const key = new Uint8Array(32).fill(7);

function listen() {
  return new FrameReader(key, "to_host");
}

function concat(parts: readonly Uint8Array[]): Uint8Array {
  return new Uint8Array(parts.flatMap((part) => [...part]));
}

Deno.test("entries arrive as they were sent, however the stream is cut, from one buffer that is used again", () => {
  const entry = fc.record({ slot: fc.nat(2 ** 32 - 1), text: fc.string({ unit: "grapheme" }) }, {
    noNullPrototype: true,
  });
  fc.assert(
    fc.property(fc.array(fc.array(entry)), fc.integer({ min: 1, max: 50 }), (frames, step) => {
      const writer = new FrameWriter(key, "to_host");
      const reader = listen();
      const bytes = concat(frames.map((entries) => writer.frame(entries)));
      const buffer = new Uint8Array(step);

      const heard = [];
      for (let at = 0; at < bytes.length; at += step) {
        const part = bytes.subarray(at, at + step);
        buffer.set(part);
        heard.push(...reader.push(buffer.subarray(0, part.length)));
      }

      assert.deepEqual(heard, frames.flat());
    }),
  );
});

Deno.test("a changed, repeated, reordered, foreign or reflected frame is refused", () => {
  const writer = new FrameWriter(key, "to_host");
  const [first, second] = [
    writer.frame([{ slot: 1, text: "one" }]),
    writer.frame([{ slot: 1, text: "two" }]),
  ];
  const changed = first.slice();
  changed[changed.length - 1] = 0;
  const foreign = new FrameWriter(new Uint8Array(32), "to_host").frame([{ slot: 1, text: "one" }]);
  const reflected = new FrameWriter(key, "to_supervisor").frame([{ slot: 1, text: "one" }]);
  const huge = first.slice();
  huge.fill(0xff, 4, 8);

  const printed = new TextEncoder().encode("somebody printed a line of some length\n");

  for (const bytes of [changed, concat([first, first]), second, foreign, reflected, huge, printed]) {
    assert.throws(() => listen().push(bytes), BadFrame);
  }
});

Deno.test("entries that are sent while a write is under way share the next frame", async () => {
  const writes: Uint8Array[] = [];
  const gate = Promise.withResolvers<void>();
  const sink = { write: (bytes: Uint8Array) => (writes.push(bytes), gate.promise) };
  const outbox = new Outbox(sink, new FrameWriter(key, "to_host"), () => {});

  outbox.send(1, "a");
  outbox.send(2, "b");
  await Promise.resolve();
  outbox.send(3, "c");
  outbox.send(4, "d");
  gate.resolve();
  await outbox.flushed();

  const reader = listen();
  assert.deepEqual(writes.map((bytes) => reader.push(bytes).map((entry) => entry.text).join("")), [
    "ab",
    "cd",
  ]);
});

Deno.test("a broken sink is told of once", async () => {
  const failures: unknown[] = [];
  const sink = { write: () => Promise.reject(new Error("broken pipe")) };
  const outbox = new Outbox(sink, new FrameWriter(key, "to_host"), (error) => failures.push(error));

  outbox.send(1, "a");
  await outbox.flushed();
  outbox.send(1, "b");
  await outbox.flushed();

  assert.equal(failures.length, 1);
});
