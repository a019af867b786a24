/** Proves what may be filled into a form, and which addresses may be offered for opening. */
import assert from "node:assert/strict";
import { checkForm, contentOfText, type FormField } from "./form_field.ts";
import { readWebLink } from "./web_link.ts";

const field = (type: FormField["type"], options: Partial<FormField> = {}): FormField => ({
  name: "f",
  label: "Field",
  type,
  required: true,
  secret: false,
  ...options,
});
const colours = [{ value: "r", label: "Red" }, { value: "b", label: "Blue" }];

const accepted: readonly (readonly [FormField, unknown, unknown])[] = [
  [field("string"), " kept as it is ", " kept as it is "],
  [field("string", { min: 2, max: 3 }), "a😀", "a😀"],
  [field("string", { format: "email" }), "ada@example.org", "ada@example.org"],
  [field("string", { format: "uri" }), "https://example.org/x", "https://example.org/x"],
  [field("string", { format: "date" }), "2026-02-28", "2026-02-28"],
  [field("string", { format: "date-time" }), "2026-02-28T09:00:00+01:00", "2026-02-28T09:00:00+01:00"],
  [field("number", { min: -1, max: 1 }), "0.5", 0.5],
  [field("integer"), 36, 36],
  [field("boolean"), "No", false],
  [field("boolean"), true, true],
  [field("choice", { choices: colours }), "r", "r"],
  [field("choice", { choices: colours }), "Blue", "b"],
  [field("choices", { choices: colours, min: 1 }), ["b", "b", "r"], ["b", "r"]],
  [field("choices", { choices: colours }), "Red, b", ["r", "b"]],
  [field("string", { fallback: "kind" }), "", "kind"],
  [field("string", { required: false }), " ", undefined],
];

for (const [index, [of, given, content]] of accepted.entries()) {
  Deno.test(`form value ${index}: ${of.type} takes ${JSON.stringify(given)}`, () => {
    const checked = checkForm([of], { f: given });

    assert.deepEqual(checked, { ok: true, value: content === undefined ? {} : { f: content } });
  });
}

const refused: readonly (readonly [FormField, unknown, RegExp])[] = [
  [field("string"), " \n\t", /"Field" is missing/],
  [field("string"), 7, /must be text/],
  [field("string", { min: 2 }), "a", /at least 2 characters/],
  [field("string", { max: 2 }), "abc", /at most 2 characters/],
  [field("string", { format: "email" }), "ada", /e-mail/],
  [field("string", { format: "uri" }), "no address", /address such as/],
  [field("string", { format: "date" }), "2026-02-30", /date such as/],
  [field("string", { format: "date-time" }), "2026-02-28 noon", /time such as/],
  [field("number"), "much", /must be a number/],
  [field("number", { max: 1 }), 2, /at most 1/],
  [field("number", { min: 1 }), 0, /at least 1/],
  [field("integer"), 3.5, /whole number/],
  [field("boolean"), "perhaps", /yes or no/],
  [field("choice", { choices: colours }), "green", /one of the choices/],
  [field("choices", { choices: colours }), ["r", "green"], /some of the choices/],
  [field("choices", { choices: colours, min: 2 }), ["r"], /at least 2/],
  [field("choices", { choices: colours, max: 1 }), ["r", "b"], /at most 1/],
  [field("choices", { choices: colours }), 7, /some of the choices/],
];

for (const [index, [of, given, why]] of refused.entries()) {
  Deno.test(`form value ${index}: ${of.type} refuses ${JSON.stringify(given)}`, () => {
    const checked = checkForm([of], { f: given });

    assert.match(checked.ok ? "" : checked.error.message, why);
  });
}

Deno.test("a form takes no value for a field that it does not have, and repeats nothing of it", () => {
  for (const name of ["canary", "__proto__"]) {
    const given = JSON.parse(`{"f": "x", "${name}": "canary"}`);
    const checked = checkForm([field("string")], given);

    assert.match(checked.ok ? "" : checked.error.message, /does not have/);
    assert.ok(!JSON.stringify(checked).includes("canary"));
  }
});

Deno.test("a form is answered in words as JSON, as one value, or line by line", () => {
  const two = [field("string", { name: "name" }), field("string", { name: "age" })];

  assert.deepEqual(contentOfText([field("string")], " red "), { f: "red" });
  assert.deepEqual(contentOfText(two, "name: Ada: L\n- age: 36"), { name: "Ada: L", age: "36" });
  assert.deepEqual(contentOfText(two, '{"age": 36}'), { age: 36 });
  assert.deepEqual(contentOfText([], "yes"), {});
});

Deno.test("only https, and http on this machine, may be opened, with the host apart", () => {
  for (const url of ["http://example.org", "javascript:alert(1)", "data:text/html,x", "file:///etc", "x"]) {
    assert.equal(readWebLink(url).ok, false, url);
  }
  assert.equal(readWebLink("https://bank.example@evil.example/").ok, false);
  assert.ok(readWebLink("http://127.0.0.1:8080/cb").ok && readWebLink("http://[::1]/").ok);
  assert.equal(readWebLink("http://localhost.evil.example/").ok, false);

  const link = readWebLink("https://аpple.com:444/login?next=a@b#c");

  assert.ok(link.ok);
  const { before, host, after, href } = link.value;
  assert.deepEqual([before, host, after], ["https://", "xn--pple-43d.com:444", "/login?next=a@b#c"]);
  assert.equal(before + host + after, href);
});
