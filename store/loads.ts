/** What each kind of pure actor restores itself from. Each kind declares its own in `store/loads/`. */
import { loadApproval } from "./loads/approval.ts";
import { loadConversation } from "./loads/conversation.ts";
import { loadScheduler } from "./loads/scheduler.ts";
import type { Load } from "./read.ts";

/** The loader of each pure kind. */
export const loads: Readonly<Record<string, Load>> = {
  approval: loadApproval,
  conversation: loadConversation,
  scheduler: loadScheduler,
};
