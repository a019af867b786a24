/** Proves how a server's form becomes fields, and what counts as a secret. */
import assert from "node:assert/strict";
import { fieldsOf, Form, textOf } from "./elicitation.ts";

const form = (properties: Record<string, unknown>, message = "Please", required: string[] = []) =>
  fieldsOf(Form.parse({ message, requestedSchema: { properties, required } }));

Deno.test("every kind of field is passed as it is", () => {
  const fields = form(
    {
      name: {
        type: "string",
        title: "Your name",
        description: "as in the passport",
        minLength: 2,
        maxLength: 9,
      },
      mail: { type: "string", format: "email", default: "a@b.c" },
      odd: { type: "string", format: "color" },
      age: { type: "integer", minimum: 1, maximum: 150 },
      sure: { type: "boolean", default: false },
      plain: { type: "string", enum: ["r", "b"], enumNames: ["Red", "Blue"] },
      titled: { type: "string", oneOf: [{ const: "r", title: "Red" }] },
      many: { type: "array", minItems: 1, maxItems: 2, items: { enum: ["a", "b"] } },
      manyTitled: { type: "array", items: { anyOf: [{ const: "a", title: "A!" }] }, default: ["a"] },
    },
    "Please",
    ["name"],
  );

  const base = { required: false, secret: false };
  assert.deepEqual(fields, [
    {
      name: "name",
      label: "Your name",
      description: "as in the passport",
      type: "string",
      required: true,
      secret: false,
      min: 2,
      max: 9,
    },
    { ...base, name: "mail", label: "mail", type: "string", format: "email", fallback: "a@b.c" },
    { ...base, name: "odd", label: "odd", type: "string" },
    { ...base, name: "age", label: "age", type: "integer", min: 1, max: 150 },
    { ...base, name: "sure", label: "sure", type: "boolean", fallback: false },
    {
      ...base,
      name: "plain",
      label: "plain",
      type: "choice",
      choices: [{ value: "r", label: "Red" }, { value: "b", label: "Blue" }],
    },
    { ...base, name: "titled", label: "titled", type: "choice", choices: [{ value: "r", label: "Red" }] },
    {
      ...base,
      name: "many",
      label: "many",
      type: "choices",
      min: 1,
      max: 2,
      choices: [{ value: "a", label: "a" }, { value: "b", label: "b" }],
    },
    {
      ...base,
      name: "manyTitled",
      label: "manyTitled",
      type: "choices",
      choices: [{ value: "a", label: "A!" }],
      fallback: ["a"],
    },
  ]);
  assert.match(
    textOf("Please", fields),
    /^Please\n\n- Your name: as in the passport\n- mail \(optional\): string; default a@b\.c\n/,
  );
});

Deno.test("a secret is known by its name, title, description or format, and has no default to show", () => {
  const fields = form({
    a: { type: "string", format: "password", default: "canary" },
    apiKey: { type: "string" },
    pin: { type: "integer" },
    shipping: { type: "string" },
    b: { type: "string", title: "Your passphrase" },
    c: { type: "string", description: "the access token of your account" },
    tokenKind: { type: "string", enum: ["bearer", "basic"] },
    writeOnly: { type: "string", writeOnly: true },
    lucky: { type: "integer", description: "Any number (do not give us your pin, or other secrets)" },
  });

  const secrets = fields.filter((field) => field.secret).map(({ name }) => name);
  assert.deepEqual(secrets, ["a", "apiKey", "pin", "b", "c", "writeOnly"]);
  assert.ok(!JSON.stringify(fields).includes("canary"));
});

Deno.test("a form that speaks of a secret without a field for it hides all that is typed", () => {
  const value = { value: { type: "string" }, sure: { type: "boolean" } };

  const secrets = (message: string, properties: Record<string, unknown>) =>
    form(properties, message).filter((field) => field.secret).map(({ name }) => name);

  assert.deepEqual(secrets("Paste your API token", value), ["value"]);
  assert.deepEqual(secrets("What is it called?", value), []);
  const login = { user: { type: "string" }, password: { type: "string" } };
  assert.deepEqual(secrets("Name and password, please", login), ["password"]);
});
