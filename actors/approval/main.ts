/** The entry of the approval actor's Worker bundle. */
import { runPure } from "../../runtime/pure_worker.ts";
import { approval } from "./approval.ts";

runPure(approval);
