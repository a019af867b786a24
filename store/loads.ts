/** What each kind of pure actor restores itself from. Each kind declares its own in `store/loads/`. */
import { loadConversation } from "./loads/conversation.ts";
import type { Load } from "./read.ts";

/** The loader of each pure kind. */
export const loads: Readonly<Record<string, Load>> = { conversation: loadConversation };
