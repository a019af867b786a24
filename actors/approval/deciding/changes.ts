/** What a person changed in the arguments of a call, for the model that made it and for whoever reads on. Pure. Proven by `edit_test.ts`. */
import { canonicalJson } from "../../../lib/digest.ts";

/** One changed argument; the values are JSON text, cut. Absent: it was not there before, or is not there any more. */
export interface Change {
  readonly name: string;
  readonly before?: string;
  readonly after?: string;
}

/** How much of a value is told, in UTF-16 units. */
const MAX_VALUE = 300;
const MAX_CHANGES = 50;

/** The arguments that differ, by name. `before` is JSON text as the model wrote it, which may be none. */
export function changesBetween(before: string, after: Readonly<Record<string, unknown>>): Change[] {
  const old = asObject(before);
  const names = [...new Set([...Object.keys(old), ...Object.keys(after)])].sort();
  return names.flatMap((name) => {
    const [was, is] = [textOf(old, name), textOf(after, name)];
    if (was === is) return [];
    return [{ name: cut(name), ...valueOf("before", was), ...valueOf("after", is) }];
  }).slice(0, MAX_CHANGES);
}

function valueOf<Name extends "before" | "after">(name: Name, text: string | undefined) {
  return text === undefined ? {} : { [name]: cut(text) };
}

function textOf(object: Readonly<Record<string, unknown>>, name: string): string | undefined {
  return Object.hasOwn(object, name) ? canonicalJson(object[name]) : undefined;
}

function asObject(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}

function cut(text: string): string {
  return text.length <= MAX_VALUE ? text : `${text.slice(0, MAX_VALUE).toWellFormed()}…`;
}
