import assert from "node:assert/strict";
import { contentOf, type Field, fieldsOf, Form, questionOf } from "./elicitation.ts";

const field = (name: string, options: Partial<Field> = {}): Field => ({
  name,
  type: "string",
  description: "",
  required: true,
  choices: [],
  fallback: undefined,
  secret: false,
  ...options,
});

Deno.test("a form with one field is answered by the value alone", () => {
  const fields = [field("color", { choices: ["red", "blue"] })];

  assert.deepEqual(questionOf("Which?", fields).suggestions, ["red", "blue"]);
  assert.deepEqual(contentOf(fields, " red "), { ok: true, value: { color: "red" } });
  assert.equal(contentOf(fields, "green").ok, false);
});

Deno.test("a form with several fields is answered by lines or JSON, and defaults count", () => {
  const fields = [
    field("name"),
    field("age", { type: "integer" }),
    field("sure", { type: "boolean" }),
    field("tags", { type: "array", choices: ["a", "b"], required: false }),
    field("tone", { fallback: "kind" }),
  ];
  const content = { name: "Ada: L", age: 36, sure: true, tags: ["a", "b"], tone: "kind" };

  assert.match(questionOf("Please", fields).question, /^Please\n\n- name: string\n/);
  assert.deepEqual(contentOf(fields, "name: Ada: L\nage: 36\n- sure: yes\ntags: a, b"), {
    ok: true,
    value: content,
  });
  assert.deepEqual(contentOf(fields, JSON.stringify(content)), { ok: true, value: content });
});

Deno.test("an answer that does not fit names the field", () => {
  const fields = [field("name"), field("age", { type: "integer" })];

  for (
    const [answer, why] of [["age: 3", /"name" is missing/], ["name: A\nage: 3.5", /"age" cannot/]] as const
  ) {
    const read = contentOf(fields, answer);
    assert.match(read.ok ? "" : read.error.message, why);
  }
});

Deno.test("a field that asks for a secret is known by its format or its name, and is never quoted back", () => {
  const form = Form.parse({
    message: "m",
    requestedSchema: {
      properties: {
        a: { type: "string", format: "password" },
        apiKey: { type: "string" },
        pin: { type: "integer" },
        shipping: { type: "string" },
        b: { type: "string", title: "Your passphrase" },
      },
    },
  });
  const fields = fieldsOf(form);

  const wrong = contentOf(fields, "pin: canary-1234");

  assert.deepEqual(fields.filter((each) => each.secret).map((each) => each.name), [
    "a",
    "apiKey",
    "pin",
    "b",
  ]);
  assert.ok(!wrong.ok && !wrong.error.message.includes("canary"));
});
