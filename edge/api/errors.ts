/**
 * The one shape of an error answer. Part of `edge/api.ts`.
 */
import * as z from "zod";

/** The one shape of an error answer. `code` is stable, `message` is for people and never holds a secret. */
export const ErrorBody = z.object({ error: z.object({ code: z.string(), message: z.string() }) });
export type ErrorBody = z.infer<typeof ErrorBody>;
