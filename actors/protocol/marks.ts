/** What a person did with a waiting item without deciding it. The mark is the edge's row already; approval keeps the log and tells people. */
import * as z from "zod";
import { Decider } from "./approval.ts";
import { message } from "./define.ts";

/** `later`: put off by this person, for themselves. `delegated`: somebody was asked to decide; null: nobody any more. */
export const ItemMarked = z.object({
  itemId: z.string(),
  by: Decider,
  marked: z.discriminatedUnion("mark", [
    z.object({ mark: z.literal("later"), until: z.int() }),
    z.object({ mark: z.literal("delegated"), userId: z.string().nullable() }),
  ]),
});
export type ItemMarked = z.infer<typeof ItemMarked>;

/** Message types of this subject. */
export const markMessages = {
  "item.marked": message(["edge"], ["approval"], ItemMarked, { lane: "control" }),
} as const;
