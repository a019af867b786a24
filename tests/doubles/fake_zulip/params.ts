/**
 * The form or query of one call to the fake server, with the refusals that bad parameters get. Remembers which names were asked for, since a real server
 * lists the others as ignored.
 */
import { ZulipRefusal } from "./world.ts";

/** The parameters of one call, with the refusals that bad ones get. */
export class Params {
  readonly used = new Set<string>();
  readonly values: Readonly<Record<string, string>>;

  constructor(values: Readonly<Record<string, string>>) {
    this.values = values;
  }

  optional(name: string): string | undefined {
    this.used.add(name);
    return this.values[name];
  }

  text(name: string): string {
    const value = this.optional(name);
    if (value === undefined) {
      throw new ZulipRefusal(`Missing '${name}' argument`, {
        code: "REQUEST_VARIABLE_MISSING",
        extra: { var_name: name },
      });
    }
    return value;
  }

  json(name: string): unknown {
    const value = this.optional(name);
    if (value === undefined) return undefined;
    try {
      return JSON.parse(value);
    } catch {
      throw new ZulipRefusal(`${name} is not valid JSON`);
    }
  }

  flag(name: string, fallback: boolean): boolean {
    const value = this.json(name);
    if (value !== undefined && typeof value !== "boolean") throw new ZulipRefusal(`${name} is not a boolean`);
    return value ?? fallback;
  }

  integer(name: string): number | undefined {
    const value = this.json(name);
    if (value !== undefined && !Number.isInteger(value)) throw new ZulipRefusal(`${name} is not an integer`);
    return typeof value === "number" ? value : undefined;
  }

  /** A JSON value where there is one, else the text itself: ids and names alike. */
  either(name: string): unknown {
    const value = this.text(name);
    try {
      return JSON.parse(value);
    } catch {
      return value;
    }
  }
}
