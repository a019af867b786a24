/** The entry of the scheduler's Worker bundle. */
import { runPure } from "../../runtime/pure_worker.ts";
import { scheduler } from "./scheduler.ts";

runPure(scheduler);
