/**
 * What a server asks of a person through the protocol's elicitation: a flat form as our fields, or an address to open. Decides which values
 * are secrets, from every word that is said about them. Pure. Proven by `elicitation_test.ts`.
 */
import * as z from "zod";
import type { FormField } from "../../../lib/form_field.ts";

const Choice = z.object({ const: z.string(), title: z.string().optional() });
const Choices = z.object({
  enum: z.array(z.string()).optional(),
  enumNames: z.array(z.string()).optional(),
  oneOf: z.array(Choice).optional(),
  anyOf: z.array(Choice).optional(),
});
const Property = Choices.extend({
  type: z.enum(["string", "number", "integer", "boolean", "array"]),
  title: z.string().optional(),
  description: z.string().optional(),
  format: z.string().optional(),
  writeOnly: z.boolean().optional(),
  default: z.union([z.string(), z.number(), z.boolean(), z.array(z.string())]).optional(),
  minLength: z.number().optional(),
  maxLength: z.number().optional(),
  minimum: z.number().optional(),
  maximum: z.number().optional(),
  minItems: z.number().optional(),
  maxItems: z.number().optional(),
  items: Choices.optional(),
});
type Property = z.infer<typeof Property>;

/** A form as a server sends it, as far as we read it. */
export const Form = z.object({
  message: z.string().max(15_000),
  requestedSchema: z.object({
    properties: z.record(z.string().max(200), Property)
      .refine((properties) => Object.keys(properties).length <= 100, "a form has at most 100 fields"),
    required: z.array(z.string()).default([]),
  }),
});
export type Form = z.infer<typeof Form>;

/** An address that a server wants a person to open. */
export const Link = z.object({
  mode: z.literal("url"),
  message: z.string().max(15_000),
  elicitationId: z.string(),
  url: z.string().max(4_000),
});
export type Link = z.infer<typeof Link>;

/** A call that is refused until somebody has opened some addresses (error -32042 of the protocol). */
export const LinksRequired = z.object({
  code: z.literal(-32042),
  data: z.object({ elicitations: z.array(Link).min(1) }),
});

/** What nobody wants to have stored, by its usual names. */
const SECRET =
  /pass(?:word|phrase|code|key)|secret|token|api[-_ ]?key|(?:private|access|recovery|signing)[-_ ]?key|credential|\bpin\b|\botp\b|\bcvv\b|one[-_ ]time[-_ ]code|(?:security|verification)[-_ ]code/i;

/** "Do not give us your PIN" asks for none. */
const WARNING = /\b(?:do not|don't|never)\b[^.;!?)]*/gi;

function speaksOfSecret(words: string): boolean {
  return SECRET.test(words.replace(WARNING, ""));
}

/** The fields of a form. */
export function fieldsOf({ message, requestedSchema: { properties, required } }: Form): FormField[] {
  const fields = Object.entries(properties).map(([name, property]) =>
    fieldOf(name, property, required.includes(name))
  );
  // The form speaks of a secret and no field does: then every field that one could be typed into is one.
  if (!speaksOfSecret(message) || fields.some(({ secret }) => secret)) return fields;
  return fields.map((field) => isTyped(field) ? sealed(field) : field);
}

function fieldOf(name: string, property: Property, required: boolean): FormField {
  const { title, description } = property;
  const choices = choicesOf(property);
  const type = property.type === "array" ? "choices" : choices.length > 0 ? "choice" : property.type;
  const [min, max] = boundsOf(property);
  const format = formats.find((known) => known === property.format);
  const field: FormField = {
    name,
    label: title?.trim() || name,
    ...(description && { description: description.slice(0, 4_000) }),
    type,
    required,
    secret: false,
    ...(type === "string" && format && { format }),
    ...(min !== undefined && { min }),
    ...(max !== undefined && { max }),
    ...(choices.length > 0 && { choices }),
    ...(property.default !== undefined && { fallback: property.default }),
  };
  const words = `${name} ${title ?? ""} ${description ?? ""} ${property.format ?? ""}`;
  return isTyped(field) && (property.writeOnly === true || speaksOfSecret(words)) ? sealed(field) : field;
}

/** A secret has no default that could be shown. */
function sealed({ fallback: _, ...field }: FormField): FormField {
  return { ...field, secret: true };
}

function isTyped({ type }: FormField): boolean {
  return type === "string" || type === "number" || type === "integer";
}

const formats = ["email", "uri", "date", "date-time"] as const;

function choicesOf(property: Property): { value: string; label: string }[] {
  const { enum: plain, enumNames = [], oneOf, anyOf } = property.type === "array"
    ? property.items ?? {}
    : property;
  const titled = (oneOf ?? anyOf ?? []).map(({ const: value, title }) => ({ value, label: title || value }));
  return plain?.map((value, index) => ({ value, label: enumNames[index] || value })) ?? titled;
}

function boundsOf(property: Property): readonly [number | undefined, number | undefined] {
  switch (property.type) {
    case "string":
      return [property.minLength, property.maxLength];
    case "number":
    case "integer":
      return [property.minimum, property.maximum];
    case "array":
      return [property.minItems, property.maxItems];
    case "boolean":
      return [undefined, undefined];
    default:
      return property.type satisfies never;
  }
}

/** The form in words, for surfaces that can only show text. */
export function textOf(message: string, fields: readonly FormField[]): string {
  const lines = fields.map((field) =>
    `- ${field.label}${field.required ? "" : " (optional)"}: ${hint(field)}`
  );
  return [message, ...lines.length > 0 ? [lines.join("\n")] : []].join("\n\n").slice(0, 20_000);
}

function hint({ description, type, choices, fallback }: FormField): string {
  const parts = [
    description ?? (choices ? "" : type),
    ...(choices
      ? [`${type === "choice" ? "one" : "any"} of ${choices.map(({ label }) => label).join(", ")}`]
      : []),
    ...(fallback === undefined ? [] : [`default ${String(fallback)}`]),
  ];
  return parts.filter((part) => part !== "").join("; ");
}
