/**
 * How an operation is declared: a typed change that an actor may ask for in its commit. Actors never write SQL; each operation says which
 * actor kinds may use it and what statements it becomes, and the supervisor binds the actor's own key. `store/ops.ts` is the catalogue.
 */
import type * as z from "zod";
import type { Statement } from "./db.ts";

/** What the supervisor knows and the operation may not choose. */
export interface OpContext {
  /** The actor that commits, for example `conversation/018f…`. */
  readonly ref: string;
  /** Its kind. */
  readonly kind: string;
  /** The part of the ref after the slash, or the whole ref. */
  readonly id: string;
  /** Milliseconds since the epoch, of the commit. */
  readonly now: number;
}

/** One operation. A condition that must hold is a `guard(…)` among its statements. */
export interface OpSpec<Schema extends z.ZodType = z.ZodType> {
  readonly by: readonly string[];
  readonly schema: Schema;
  statements(input: z.output<Schema>, context: OpContext): Statement[];
}

/** Declares an operation with its types inferred. */
export function op<Schema extends z.ZodType>(
  by: readonly string[],
  schema: Schema,
  statements: (input: z.output<Schema>, context: OpContext) => Statement[],
): OpSpec<Schema> {
  return { by, schema, statements };
}
