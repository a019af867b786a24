/**
 * The gate's settings while they are changed: texts as they stand in the form's fields, and the settings that they make. Pure. Proven by
 * `tests/browser/policy_test.ts`.
 */
import type { GateSettings } from "../../edge/api.ts";
import { limitOf, wordsOf } from "./rule_draft.ts";

/** The fields as texts, so that a half-typed number is nobody's limit. */
export interface GateDraft extends Omit<GateSettings, "twoPersons" | "callsPerMinute" | "denialsInARow"> {
  readonly twoPersons: string;
  readonly callsPerMinute: string;
  readonly denialsInARow: string;
}

/** The fields of the settings. */
export function gateDraftOf(settings: GateSettings): GateDraft {
  return {
    ...settings,
    twoPersons: settings.twoPersons.join("\n"),
    callsPerMinute: `${settings.callsPerMinute ?? ""}`,
    denialsInARow: `${settings.denialsInARow ?? ""}`,
  };
}

/** The settings that the fields make; an empty number is no limit (`limitProblem` finds the others), and a line without a tool is none. */
export function gateSettingsOf(draft: GateDraft): GateSettings {
  return {
    ...draft,
    twoPersons: wordsOf(draft.twoPersons),
    expiryByTool: draft.expiryByTool
      .map((wait) => ({ ...wait, toolPattern: wait.toolPattern.trim() }))
      .filter(({ toolPattern }) => toolPattern !== ""),
    callsPerMinute: limitOf(draft.callsPerMinute),
    denialsInARow: limitOf(draft.denialsInARow),
  };
}

/** The list with the one at `index` a place earlier. */
export function stepEarlier<Entry>(list: readonly Entry[], index: number): Entry[] {
  const moved = list.slice(index, index + 1);
  const others = list.filter((_, at) => at !== index);
  return [...others.slice(0, index - 1), ...moved, ...others.slice(index - 1)];
}
