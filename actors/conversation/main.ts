/** The entry of a conversation's Worker bundle. */
import { runPure } from "../../runtime/pure_worker.ts";
import { conversation } from "./conversation.ts";

runPure(conversation);
