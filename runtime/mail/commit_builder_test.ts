import assert from "node:assert/strict";
import { fail, ok } from "../../lib/result.ts";
import { sql } from "../../store/db.ts";
import { insertedMail, insertedRows, merge } from "./built.ts";
import { type BuilderOptions, CommitBuilder } from "./commit_builder.ts";
import type { Vocabulary } from "../vocabulary.ts";

const vocabulary: Vocabulary = {
  kindOf: (ref) => ref.split("/")[0],
  check(from, { to, type, payload }) {
    if (type === "tool.run" && from !== "approval") return fail("not_allowed", `${from} may not`);
    const durable = type !== "live.delta";
    return to === "nobody" ? fail("unknown_type", "nobody") : ok({ lane: "normal", durable, payload });
  },
  isRequest: () => true,
  keyOf: ({ payload }) => String(Reflect.get(Object(payload), "key") ?? "") || undefined,
};

function builder(more: Partial<BuilderOptions> = {}): CommitBuilder {
  let ids = 0;
  return new CommitBuilder({
    vocabulary,
    opStatements: ({ op }, { ref, id }) =>
      op === "good" ? ok([sql("good", ref, id)]) : fail("not_allowed", "no such operation"),
    now: () => 1_000,
    newId: () => `id${++ids}`,
    reserve: () => true,
    ...more,
  });
}

const author = { ref: "conversation/a", kind: "conversation", cause: { id: "m1", traceparent: "t" } };

Deno.test("the sender of a message is who the frame came from, and what it handled is the cause", () => {
  const send = [{ to: "toolbox", type: "tool.propose", payload: { key: "k" }, from: "approval" }];

  const built = builder().build(author, { send });

  assert.ok(built.ok);
  assert.deepEqual(
    built.value.mail.map(({ mail }) => [mail.from, mail.cause, mail.traceparent, mail.key, mail.payload]),
    [
      ["conversation/a", "m1", "t", "k", '{"key":"k"}'],
    ],
  );
});

Deno.test("a message that its sender may not say becomes a failure with the request's own ids", () => {
  const send = [{ to: "toolbox", type: "tool.run", payload: { callId: "c1", secret: "s" } }];

  const built = builder().build(author, { send });

  assert.ok(built.ok);
  assert.equal(built.value.refused[0]?.code, "not_allowed");
  assert.deepEqual(built.value.mail.map(({ mail }) => [mail.to, mail.type, JSON.parse(mail.payload)]), [
    ["conversation/a", "request.failed", {
      request: "id1",
      type: "tool.run",
      code: "not_allowed",
      message: "conversation/a may not",
      callId: "c1",
    }],
  ]);
});

Deno.test("a full mailbox refuses", () => {
  const built = builder({ reserve: () => false }).build(author, {
    send: [{ to: "b", type: "x", payload: 1 }],
  });

  assert.ok(built.ok);
  assert.deepEqual(built.value.refused.map((refused) => refused.code), ["mailbox_full"]);
});

Deno.test("a refused operation refuses the whole, an allowed one is bound to its actor", () => {
  const allowed = builder().build(author, { ops: [{ op: "good" }] });
  const refused = builder().build(author, { ops: [{ op: "good" }, { op: "bad" }] });

  assert.ok(allowed.ok);
  assert.deepEqual(allowed.value.statements, [sql("good", "conversation/a", "a")]);
  assert.equal(refused.ok, false);
});

Deno.test("ephemeral messages and messages to the edge are no mail", () => {
  const send = [{ to: "b", type: "live.delta", payload: 1 }, { to: "edge", type: "x", payload: 2 }];

  const built = builder().build(author, { send });

  assert.ok(built.ok);
  assert.deepEqual(built.value.mail, []);
  assert.deepEqual(built.value.ephemeral.map((message) => message.to), ["b"]);
  assert.deepEqual(built.value.edge.map((message) => message.payload), [2]);
});

Deno.test("a message to the edge is one row, done at once, and takes no place in a mailbox", () => {
  const send = [{ to: "edge", type: "x", payload: 1 }];

  const built = builder({ reserve: () => false }).build(author, { send });

  assert.ok(built.ok);
  assert.deepEqual(built.value.refused, []);
  assert.equal(built.value.statements.length, 1);
  assert.ok(built.value.statements[0]?.args.includes("done"));
  assert.deepEqual(insertedRows(built.value, [{ columns: ["seq"], rows: [[7]], rowsAffected: 0 }], 0), [7]);
});

Deno.test("merged commits know which row is which message, and what dedupe kept out", () => {
  const one = builder();
  const parts = [["a", "b"], ["c"]].map((names) => {
    const send = names.map((to) => ({ to, type: "x", payload: null, replaces: "r" }));
    const built = one.build(author, { send });
    assert.ok(built.ok);
    return built.value;
  });

  const merged = merge(parts);
  const rows = merged.statements.map((_, index) => ({
    columns: ["seq"],
    rows: index === 3 ? [] : [[index]],
    rowsAffected: 0,
  }));

  assert.deepEqual(insertedMail(merged, rows, 0).map((mail) => [mail.to, mail.seq]), [["a", 1], ["c", 5]]);
});
