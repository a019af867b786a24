/**
 * How a read is declared: a named question that a gateway may ask the database while it works, and how a pure actor's state is loaded when it
 * wakes. `store/reads.ts` and `store/loads.ts` are the catalogues.
 */
import type * as z from "zod";
import type { Db } from "./db.ts";

/** One named question. `run` gives JSON. */
export interface ReadSpec<Schema extends z.ZodType = z.ZodType> {
  readonly by: readonly string[];
  readonly schema: Schema;
  run(db: Db, input: z.output<Schema>): Promise<unknown>;
}

/** Declares a read with its types inferred. */
export function read<Schema extends z.ZodType>(
  by: readonly string[],
  schema: Schema,
  run: (db: Db, input: z.output<Schema>) => Promise<unknown>,
): ReadSpec<Schema> {
  return { by, schema, run };
}

/** Loads what a pure actor of one kind restores itself from; `id` is the part of its ref after the slash. Gives JSON. */
export type Load = (db: Db, id: string) => Promise<unknown>;
