/**
 * The fields of a form that a tool wants a person to fill in, and the one check of what was filled in: used by the page, by the edge, and
 * again where the answer arrives. The types are those of MCP's elicitation. What it says of a wrong value never repeats a secret. Pure.
 * Proven by `form_field_test.ts`.
 */
import { fail, ok, type Result } from "./result.ts";

/** What a field may hold. */
export type FieldValue = string | number | boolean | string[];

/** One field. */
export interface FormField {
  readonly name: string;
  readonly label: string;
  readonly description?: string | undefined;
  /** `choice`: one of `choices`; `choices`: any number of them. */
  readonly type: "string" | "number" | "integer" | "boolean" | "choice" | "choices";
  readonly required: boolean;
  /** The value is a secret: typed unseen, shown nowhere again. */
  readonly secret: boolean;
  /** Of a string. */
  readonly format?: "email" | "uri" | "date" | "date-time" | undefined;
  /** The least and the most: characters of a string, the number itself, how many of the choices. */
  readonly min?: number | undefined;
  readonly max?: number | undefined;
  readonly choices?: readonly { readonly value: string; readonly label: string }[] | undefined;
  /** Holds when nothing is given. */
  readonly fallback?: FieldValue | undefined;
}

/** The content that a form's sender gets; the failure's message is for the person and names the field. */
export function checkForm(
  fields: readonly FormField[],
  given: Readonly<Record<string, unknown>>,
): Result<Record<string, FieldValue>> {
  const content = new Map<string, FieldValue>();
  for (const field of fields) {
    const value = Object.hasOwn(given, field.name) ? given[field.name] : undefined;
    if (isBlank(value)) {
      if (field.fallback !== undefined) content.set(field.name, field.fallback);
      else if (field.required) return fail("bad_request", `"${field.label}" is missing`);
      continue;
    }
    const read = readValue(field, value);
    if (!read.ok) return fail("bad_request", `"${field.label}" ${read.error.message}`);
    content.set(field.name, read.value);
  }
  const known = new Set(fields.map(({ name }) => name));
  // Its name is not repeated: what stands there may be half of a secret.
  return Object.keys(given).every((name) => known.has(name))
    ? ok(Object.fromEntries(content))
    : fail("bad_request", "There is a value for a field that the form does not have");
}

/** An answer in words: a JSON object, the one field's value alone, or a line `name: value` for each. */
export function contentOfText(fields: readonly FormField[], text: string): Readonly<Record<string, unknown>> {
  const answer = text.trim();
  const parsed = parseObject(answer);
  if (parsed) return parsed;
  const [only, ...more] = fields;
  if (!only) return {};
  if (more.length === 0) return { [only.name]: answer };
  return Object.fromEntries(
    answer.split("\n").flatMap((line) => {
      const match = /^\s*-?\s*([^:]+?)\s*:\s*(.*?)\s*$/.exec(line);
      return match?.[1] === undefined ? [] : [[match[1], match[2] ?? ""]];
    }),
  );
}

function parseObject(text: string): Readonly<Record<string, unknown>> | undefined {
  if (!text.startsWith("{")) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    // Checked on this line; its members are looked at one by one.
    return typeof value === "object" && value !== null ? value as Record<string, unknown> : undefined;
  } catch {
    return undefined;
  }
}

function isBlank(value: unknown): boolean {
  return value === undefined || value === null || typeof value === "string" && value.trim() === "";
}

function readValue(field: FormField, value: unknown): Result<FieldValue> {
  switch (field.type) {
    case "string":
      return typeof value === "string" ? readString(field, value) : wrong("must be text");
    case "number":
    case "integer":
      return readNumber(field, value);
    case "boolean": {
      if (typeof value === "boolean") return ok(value);
      const said = typeof value === "string" ? value.trim().toLowerCase() : "";
      if (["yes", "true", "y", "1"].includes(said)) return ok(true);
      return ["no", "false", "n", "0"].includes(said) ? ok(false) : wrong("must be yes or no");
    }
    case "choice": {
      const chosen = typeof value === "string" ? choiceOf(field, value) : undefined;
      return chosen === undefined ? wrong("must be one of the choices") : ok(chosen);
    }
    case "choices":
      return readChoices(field, value);
    default:
      return field.type satisfies never;
  }
}

function readString({ format, min, max }: FormField, text: string): Result<FieldValue> {
  const length = [...text].length;
  if (min !== undefined && length < min) return wrong(`must have at least ${min} characters`);
  if (max !== undefined && length > max) return wrong(`must have at most ${max} characters`);
  return format === undefined || fits[format](text) ? ok(text) : wrong(`must be ${formats[format]}`);
}

function readNumber({ type, min, max }: FormField, value: unknown): Result<FieldValue> {
  const number = typeof value === "number" ? value : typeof value === "string" ? Number(value.trim()) : NaN;
  if (!Number.isFinite(number)) return wrong("must be a number");
  if (type === "integer" && !Number.isInteger(number)) return wrong("must be a whole number");
  if (min !== undefined && number < min) return wrong(`must be at least ${min}`);
  if (max !== undefined && number > max) return wrong(`must be at most ${max}`);
  return ok(number);
}

function readChoices(field: FormField, value: unknown): Result<FieldValue> {
  const { min, max } = field;
  const given: unknown[] = Array.isArray(value)
    ? value
    : typeof value === "string"
    ? value.split(",").map((part) => part.trim()).filter((part) => part !== "")
    : [undefined];
  const chosen = given.map((each) => typeof each === "string" ? choiceOf(field, each) : undefined);
  const known = [...new Set(chosen)].filter((each) => each !== undefined);
  if (chosen.includes(undefined)) return wrong("must be some of the choices");
  if (min !== undefined && known.length < min) return wrong(`needs at least ${min} of the choices`);
  if (max !== undefined && known.length > max) return wrong(`takes at most ${max} of the choices`);
  return ok(known);
}

/** A choice by its value, or by the label that people see. */
function choiceOf({ choices = [] }: FormField, text: string): string | undefined {
  return (choices.find(({ value }) => value === text) ?? choices.find(({ label }) => label === text))?.value;
}

const formats = {
  email: "an e-mail address",
  uri: "an address such as https://example.org",
  date: "a date such as 2026-01-31",
  "date-time": "a time such as 2026-01-31T09:00:00Z",
} as const;

const fits: Readonly<Record<NonNullable<FormField["format"]>, (text: string) => boolean>> = {
  email: (text) => /^[^\s@]+@[^\s@]+$/.test(text),
  uri: (text) => URL.canParse(text),
  date: (text) => /^\d{4}-\d\d-\d\d$/.test(text) && isDay(text),
  "date-time": (text) =>
    /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d(:\d\d(\.\d+)?)?([Zz]|[+-]\d\d:\d\d)$/.test(text) &&
    isDay(text.slice(0, 10)) && !Number.isNaN(Date.parse(text)),
};

function isDay(text: string): boolean {
  const at = Date.parse(`${text}T00:00:00Z`);
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(text);
}

function wrong(message: string): Result<never> {
  return fail("bad_request", message);
}
