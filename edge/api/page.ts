/**
 * Paging of lists. Part of `edge/api.ts`.
 */
import * as z from "zod";

/** Query of the lists: numbers arrive as text. */
export const Page = z.strictObject({
  limit: z.coerce.number().int().min(1).max(200).default(50),
  after: z.string().max(100).optional(),
});
export type Page = z.infer<typeof Page>;
