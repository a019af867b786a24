/**
 * Messages that were given up, and settling them. Part of `edge/api.ts`.
 */
import * as z from "zod";

/** A message that failed too often or that the catalogue refused; what it said is not shown. */
export const DeadLetterView = z.object({
  id: z.string(),
  to: z.string(),
  from: z.string(),
  type: z.string(),
  /** `poison`, or the code of a refusal. */
  reason: z.string(),
  detail: z.string().optional(),
  failures: z.int(),
  at: z.int(),
  settled: z.object({ how: z.enum(["retried", "discarded"]), at: z.int() }).optional(),
});
export type DeadLetterView = z.infer<typeof DeadLetterView>;

/** `GET /api/dead-letters`, newest first; `?state=open` shows only those that nobody settled. `next` is the `after` of the next page. */
export const DeadLetterList = z.object({ deadLetters: z.array(DeadLetterView), next: z.string().optional() });
export type DeadLetterList = z.infer<typeof DeadLetterList>;
