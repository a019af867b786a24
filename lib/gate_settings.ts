/** What the gate does until the owner says otherwise, and the questions that its settings answer for the edge and for approval alike. */
import { matchesTool, type ToolFacts } from "./policy/tool_pattern.ts";

/** How the gate treats what waits until the owner says otherwise. The shapes are in the protocol and in the HTTP API; a test holds them together. */
export const gateDefaults = {
  expirySeconds: 7 * 86_400,
  onExpiry: "reject",
  expiryByTool: [],
  escalateTo: [],
  lastResort: "reject",
  remindSeconds: null,
  quietHours: null,
  timeZone: "UTC",
  twoPersons: [],
  undoSeconds: 0,
  callsPerMinute: 120,
  denialsInARow: 10,
  requesterMayApprove: true,
} as const;

/** Whether two people must allow calls of this tool. */
export function needsTwo(
  { twoPersons }: { readonly twoPersons: readonly string[] },
  facts: ToolFacts,
): boolean {
  return twoPersons.some((pattern) => matchesTool(pattern, facts));
}

/** How long an item waits, in seconds, and what happens then. */
export interface Wait {
  readonly expirySeconds: number;
  readonly onExpiry: "reject" | "park" | "escalate";
}

/** How long calls of a tool wait: by the first entry whose pattern covers it, else as everything does. */
export function waitOf(
  gate: Wait & { readonly expiryByTool: readonly (Wait & { readonly toolPattern: string })[] },
  facts: ToolFacts | undefined,
): Wait {
  return (facts && gate.expiryByTool.find(({ toolPattern }) => matchesTool(toolPattern, facts))) ?? gate;
}
