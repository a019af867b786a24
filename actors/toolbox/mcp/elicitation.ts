/**
 * A server's form as a question that a person can answer in a text field, and the answer as the form's content. One field is answered by
 * itself, several as `name: value` lines or as JSON. Pure; the schema is the flat one that the protocol allows. Proven by
 * `elicitation_test.ts`.
 */
import * as z from "zod";
import { fail, ok, type Result } from "../../../lib/result.ts";

/** What a field may hold. */
export type FieldValue = string | number | boolean | string[];

/** One field, as far as we read it. */
export interface Field {
  readonly name: string;
  readonly type: "string" | "number" | "integer" | "boolean" | "array";
  readonly description: string;
  readonly required: boolean;
  /** The allowed values; empty for any. */
  readonly choices: readonly string[];
  readonly fallback: FieldValue | undefined;
  /** By its format or its words: what is answered is a secret. */
  readonly secret: boolean;
}

const Titled = z.array(z.object({ const: z.string() }));
const Choices = z.object({
  enum: z.array(z.string()).optional(),
  oneOf: Titled.optional(),
  anyOf: Titled.optional(),
});
const Property = Choices.extend({
  type: z.enum(["string", "number", "integer", "boolean", "array"]),
  title: z.string().optional(),
  description: z.string().optional(),
  format: z.string().optional(),
  writeOnly: z.boolean().optional(),
  default: z.union([z.string(), z.number(), z.boolean(), z.array(z.string())]).optional(),
  items: Choices.optional(),
});

/** A form as a server sends it, as far as we read it. */
export const Form = z.object({
  message: z.string(),
  requestedSchema: z.object({
    properties: z.record(z.string(), Property),
    required: z.array(z.string()).default([]),
  }),
});
export type Form = z.infer<typeof Form>;

/** Names of what nobody wants to have stored. */
const SECRET =
  /pass(?:word|phrase|code)|secret|token|api[-_ ]?key|private[-_ ]?key|credential|\bpin\b|\botp\b/i;

/** The fields of a form. */
export function fieldsOf({ requestedSchema: { properties, required } }: Form): Field[] {
  return Object.entries(properties).map(([name, property]) => {
    const { enum: plain, oneOf, anyOf } = property.items ?? property;
    return {
      name,
      type: property.type,
      description: property.description ?? property.title ?? "",
      required: required.includes(name),
      choices: plain ?? (oneOf ?? anyOf ?? []).map((choice) => choice.const),
      fallback: property.default,
      secret: property.format === "password" || property.writeOnly === true ||
        SECRET.test(`${name} ${property.title ?? ""}`),
    };
  });
}

/** The question for a form. */
export function questionOf(
  message: string,
  fields: readonly Field[],
): { question: string; suggestions: string[] } {
  const only = fields.length === 1 ? fields[0] : undefined;
  if (fields.length === 0) {
    return { question: `${message}\n\n(Answer with anything to agree.)`, suggestions: ["yes"] };
  }
  const lines = fields.map((field) =>
    `- ${field.name}${field.required ? "" : " (optional)"}: ${hint(field)}`
  );
  const how = only ? "" : "\n\nAnswer with one line a field, as `name: value`.";
  const suggestions = only?.type === "boolean" ? ["yes", "no"] : [...only?.choices ?? []];
  return {
    question: `${message}\n\n${lines.join("\n")}${how}`.slice(0, 20_000),
    suggestions: suggestions.slice(0, 20).map((choice) => choice.slice(0, 500)),
  };
}

function hint({ description, type, choices, fallback }: Field): string {
  const parts = [
    description || type,
    ...(choices.length > 0 ? [`one of ${choices.join(", ")}`] : []),
    ...(fallback === undefined ? [] : [`default ${String(fallback)}`]),
  ];
  return parts.join("; ");
}

/** The form's content from an answer; a failure's message is for the person. */
export function contentOf(fields: readonly Field[], answer: string): Result<Record<string, FieldValue>> {
  const given = readAnswer(fields, answer.trim());
  const content: Record<string, FieldValue> = {};
  for (const field of fields) {
    const text = given.get(field.name);
    if (text === undefined || text === "") {
      if (field.fallback !== undefined) content[field.name] = field.fallback;
      else if (field.required) return fail("bad_request", `"${field.name}" is missing.`);
      continue;
    }
    const value = coerce(field, text);
    if (value === undefined) {
      return fail(
        "bad_request",
        `"${field.name}" cannot be ${field.secret ? "that" : `"${text.slice(0, 100)}"`}.`,
      );
    }
    content[field.name] = value;
  }
  return ok(content);
}

function readAnswer(fields: readonly Field[], answer: string): Map<string, string> {
  const parsed = parseObject(answer);
  if (parsed) return new Map(Object.entries(parsed).map(([name, value]) => [name, asText(value)]));
  const [only, ...more] = fields;
  if (only && more.length === 0) return new Map([[only.name, answer]]);
  return new Map(
    answer.split("\n").flatMap((line) => {
      const match = /^\s*-?\s*([^:]+?)\s*:\s*(.*?)\s*$/.exec(line);
      return match?.[1] === undefined ? [] : [[match[1], match[2] ?? ""]];
    }),
  );
}

function parseObject(text: string): object | undefined {
  if (!text.startsWith("{")) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

function asText(value: unknown): string {
  return Array.isArray(value) ? value.map(String).join(", ") : String(value);
}

function coerce({ type, choices }: Field, text: string): FieldValue | undefined {
  const allowed = (value: string) => choices.length === 0 || choices.includes(value);
  switch (type) {
    case "string":
      return allowed(text) ? text : undefined;
    case "boolean":
      return /^(yes|true|y|1)$/i.test(text) ? true : /^(no|false|n|0)$/i.test(text) ? false : undefined;
    case "number":
    case "integer": {
      const number = Number(text);
      return Number.isFinite(number) && (type === "number" || Number.isInteger(number)) ? number : undefined;
    }
    case "array": {
      const values = text.split(",").map((part) => part.trim()).filter((part) => part !== "");
      return values.every(allowed) ? values : undefined;
    }
    default:
      return type satisfies never;
  }
}
