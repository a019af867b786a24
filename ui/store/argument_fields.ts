/**
 * A call's arguments as fields, by the schema of its tool: simple ones are typed, everything else is JSON. What nobody touches is sent exactly as the model
 * wrote it. Pure. Whether the whole fits the tool the server says. Proven by `store_test.ts`.
 */

/** How an argument is written. `json` takes whatever has no simpler form. */
export type FieldKind = "text" | "number" | "integer" | "boolean" | "choice" | "json";

/** One argument. */
export interface ArgumentField {
  readonly name: string;
  readonly kind: FieldKind;
  readonly required: boolean;
  readonly description?: string;
  /** Of a `choice`. */
  readonly choices?: readonly string[];
  /** As the model wrote it; undefined when it did not. */
  readonly value: unknown;
}

type Properties = Readonly<Record<string, unknown>>;

function isObject(value: unknown): value is Properties {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The fields of a call: those of the schema in its order, then what the model added. Undefined when the schema names none. */
export function argumentFields(schema: unknown, given: Properties): ArgumentField[] | undefined {
  if (!isObject(schema) || !isObject(schema.properties)) return undefined;
  const { properties, required } = schema;
  const names = [...new Set([...Object.keys(properties), ...Object.keys(given)])];
  if (Object.keys(properties).length === 0) return undefined;
  const needed = new Set(Array.isArray(required) ? required : []);
  return names.map((name) => fieldOf(name, properties[name], given[name], needed.has(name)));
}

function fieldOf(name: string, schema: unknown, value: unknown, required: boolean): ArgumentField {
  const { type, enum: values, description } = isObject(schema) ? schema : {};
  const allowed: unknown[] = Array.isArray(values) ? values : [];
  const choices = allowed.filter((one) => typeof one === "string");
  const simple = choices.length > 0 && choices.length === allowed.length ? "choice" : simpleKind(type);
  return {
    name,
    // A value that is not what the schema wants is shown as it is.
    kind: value === undefined || fits(simple, value, choices) ? simple : "json",
    required,
    ...(typeof description === "string" ? { description } : {}),
    ...(choices.length > 0 ? { choices } : {}),
    value,
  };
}

function simpleKind(type: unknown): FieldKind {
  if (type === "string") return "text";
  return type === "number" || type === "integer" || type === "boolean" ? type : "json";
}

function fits(kind: FieldKind, value: unknown, choices: readonly string[]): boolean {
  switch (kind) {
    case "text":
      return typeof value === "string";
    case "choice":
      return typeof value === "string" && choices.includes(value);
    case "number":
    case "integer":
      return typeof value === "number";
    case "boolean":
      return typeof value === "boolean";
    case "json":
      return true;
    default:
      return kind satisfies never;
  }
}

/** What stands in the field at first. */
export function textOf({ kind, value }: ArgumentField): string {
  if (value === undefined) return "";
  return kind === "json" ? JSON.stringify(value, null, 2) : `${value}`;
}

/** The texts of fields that somebody changed, by name. */
export type Touched = Readonly<Record<string, string>>;

/** The arguments that the fields make, and which fields hold nothing that could be sent. An emptied field is left out, but for a required text. */
export function argumentsOf(
  fields: readonly ArgumentField[],
  touched: Touched,
): { readonly value: Record<string, unknown>; readonly wrong: ReadonlySet<string> } {
  const value: Record<string, unknown> = {};
  const wrong = new Set<string>();
  for (const field of fields) {
    const text = touched[field.name];
    const read = text === undefined ? { value: field.value } : valueOf(field, text);
    if (read === undefined) wrong.add(field.name);
    else if (read.value !== undefined) value[field.name] = read.value;
    else if (field.required) wrong.add(field.name);
  }
  return { value, wrong };
}

/** Undefined: the text is no such value. */
function valueOf({ kind, required }: ArgumentField, text: string): { readonly value: unknown } | undefined {
  if (text === "") return { value: kind === "text" && required ? "" : undefined };
  switch (kind) {
    case "text":
    case "choice":
      return { value: text };
    case "number":
    case "integer": {
      const number = Number(text);
      const isOne = text.trim() !== "" && Number.isFinite(number) &&
        (kind === "number" || Number.isInteger(number));
      return isOne ? { value: number } : undefined;
    }
    case "boolean":
      return { value: text === "true" };
    case "json":
      try {
        return { value: JSON.parse(text) };
      } catch {
        return undefined;
      }
    default:
      return kind satisfies never;
  }
}
