/** The built-in tools, in the order in which a model sees them. */
import type { Tool } from "../tool.ts";
import type { ToolDeps } from "./_deps.ts";
import { askUser } from "./ask_user.ts";
import { editFile } from "./edit_file.ts";
import { execCommand } from "./exec_command.ts";
import { listFiles } from "./list_files.ts";
import { readFile } from "./read_file.ts";
import { cancelSchedule, listSchedules, schedule } from "./schedule.ts";
import { updatePlan } from "./update_plan.ts";
import { writeFile } from "./write_file.ts";

/** Makes all of them. */
export function builtinTools(deps: ToolDeps): Tool[] {
  return [
    execCommand(deps),
    readFile(deps),
    listFiles(deps),
    writeFile(deps),
    editFile(deps),
    askUser(),
    updatePlan(),
    schedule(deps),
    listSchedules(),
    cancelSchedule(),
  ];
}
