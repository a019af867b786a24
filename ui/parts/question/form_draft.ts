/**
 * A form while it is filled in: what stands in its inputs, what of it is sent, and what is wrong with it. Pure. Proven by
 * `tests/browser/elicitation_test.ts`.
 */
import { checkForm, type FieldValue, type FormField } from "../../../lib/form_field.ts";

/** What stands in the inputs, by the names of their fields; absent: untouched. */
export type FormDraft = Readonly<Record<string, FieldValue>>;

/** What the inputs show before anybody touches them. */
export function initialDraft(fields: readonly FormField[]): FormDraft {
  return Object.fromEntries(
    fields.flatMap(({ name, fallback }) => fallback === undefined ? [] : [[name, fallback]]),
  );
}

/** What is sent: only what was filled in. A box that must be answered and was left alone says no. */
export function contentOf(fields: readonly FormField[], draft: FormDraft): Record<string, FieldValue> {
  return Object.fromEntries(fields.flatMap((field) => {
    const value = draft[field.name] ?? (field.type === "boolean" && field.required ? false : undefined);
    if (value === undefined || value === "") return [];
    return [[field.name, field.format === "date-time" ? instantOf(value) : value]];
  }));
}

/** What is wrong, by field; empty when the form may be sent. */
export function problemsOf(fields: readonly FormField[], draft: FormDraft): ReadonlyMap<string, string> {
  const content = contentOf(fields, draft);
  const problems = new Map<string, string>();
  for (const field of fields) {
    const given = Object.hasOwn(content, field.name) ? { [field.name]: content[field.name] } : {};
    const checked = checkForm([field], given);
    if (!checked.ok) problems.set(field.name, checked.error.message);
  }
  return problems;
}

/** A local date and time as the moment that it names here. */
function instantOf(value: FieldValue): FieldValue {
  if (typeof value !== "string" || /[zZ]$|[+-]\d\d:\d\d$/.test(value)) return value;
  const at = new Date(value);
  return Number.isNaN(at.getTime()) ? value : at.toISOString();
}
