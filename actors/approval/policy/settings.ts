/** How the gate treats what waits: one row of settings that the owner changes as a whole. */
import { gateDefaults } from "../../../lib/gate_settings.ts";
import { toolPatternProblem } from "../../../lib/policy/tool_pattern.ts";
import type { GateSettings } from "../../protocol/approval.ts";
import { type Author, type Changed, recordChange } from "./change_log.ts";
import type { Draft } from "../draft.ts";
import { timeZoneProblem } from "../calling/quiet_hours.ts";
import type { ApprovalState } from "../state.ts";

/** The stored settings; what is not there is as at the beginning. */
export function readSettings(stored: unknown): GateSettings {
  // Only `gate.store` writes the row, with what the catalogue has checked.
  const known = typeof stored === "object" ? stored as Partial<GateSettings> | null : null;
  return { ...gateDefaults, twoPersons: [], escalateTo: [], expiryByTool: [], ...known };
}

/** Changes them, and records what was before. */
export function changeSettings(draft: Draft, after: GateSettings, by: Author): Changed {
  const patterns = [...after.twoPersons, ...after.expiryByTool.map(({ toolPattern }) => toolPattern)];
  const problem = patterns.map(toolPatternProblem).find((found) => found !== undefined) ??
    timeZoneProblem(after.timeZone) ?? nobodyProblem(draft.state, after);
  if (problem !== undefined) return { ok: false, code: "bad_request", message: problem };
  draft.op({ op: "gate.store", settings: after });
  recordChange(draft, by, "gate.settings", { before: draft.state.gate, after });
  draft.patch({ gate: after });
  return { ok: true, id: "gate" };
}

function nobodyProblem({ users }: ApprovalState, { escalateTo }: GateSettings): string | undefined {
  const stranger = escalateTo.find((id) => !users.some((user) => user.id === id && user.role !== "viewer"));
  return stranger === undefined ? undefined : `escalateTo: "${stranger}" is nobody who could decide anything`;
}
