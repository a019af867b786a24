/** How the gate treats what waits: one row of settings that the owner changes as a whole. */
import { gateDefaults, needsTwo } from "../../lib/gate_settings.ts";
import { toolPatternProblem } from "../../lib/policy/tool_pattern.ts";
import type { GateSettings } from "../protocol/approval.ts";
import { type Author, type Changed, recordChange } from "./change_log.ts";
import type { Draft } from "./draft.ts";

/** The stored settings; what is not there is as at the beginning. */
export function readSettings(stored: unknown): GateSettings {
  // Only `gate.store` writes the row, with what the catalogue has checked.
  const known = typeof stored === "object" ? stored as Partial<GateSettings> | null : null;
  return { ...gateDefaults, twoPersons: [...gateDefaults.twoPersons], ...known };
}

/** Changes them, and records what was before. */
export function changeSettings(draft: Draft, after: GateSettings, by: Author): Changed {
  const problem = after.twoPersons.map(toolPatternProblem).find((found) => found !== undefined);
  if (problem !== undefined) return { ok: false, code: "bad_request", message: problem };
  draft.op({ op: "gate.store", settings: after });
  recordChange(draft, by, "gate.settings", { before: draft.state.gate, after });
  draft.patch({ gate: after });
  return { ok: true, id: "gate" };
}

export { needsTwo };

/** The end of the quiet hours that hold at this moment, or the moment itself. Milliseconds since the epoch. */
export function afterQuietHours({ quietHours }: GateSettings, now: number): number {
  if (!quietHours || quietHours.from === quietHours.to) return now;
  const { from, to } = quietHours;
  const hour = new Date(now).getUTCHours();
  const quiet = from < to ? hour >= from && hour < to : hour >= from || hour < to;
  if (!quiet) return now;
  const end = new Date(now);
  end.setUTCHours(to, 0, 0, 0);
  return end.getTime() > now ? end.getTime() : end.getTime() + DAY_MS;
}

const DAY_MS = 86_400_000;
