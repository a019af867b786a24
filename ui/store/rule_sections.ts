/**
 * A group's rules as a person thinks of them: what comes first whatever else is said, folders, one answer a tool, the rest, and what is left at
 * the end. Every rule stands in exactly one section. What a tool or the end comes to is computed by the function that judges, over the same rules.
 * Pure. Proven by `policy_test.ts`.
 */
import type { RuleInput, RuleView, ToolView } from "../../edge/api.ts";
import { needsTwo } from "../../lib/gate_settings.ts";
import { judge, type Verdict } from "../../lib/policy/judge.ts";
import { DEFAULT_GROUP } from "../../lib/policy/rule_order.ts";
import type { Call, RuleAction } from "../../lib/policy/rule.ts";
import type { ToolFacts } from "../../lib/policy/tool_pattern.ts";

/** Where rules for tools and for the end stand: behind whatever names a path, a command or an agent. */
export const TOOL_PRIORITY = 1_000;
export const LAST_PRIORITY = 1_000_000;
const FOLDER_PRIORITY = 900;

/** A group's rules by section, each in the order in which they are looked at. */
export interface RuleSections {
  /** Denials of all groups that nothing can lift. */
  readonly protected: readonly RuleView[];
  /** Priority below zero. */
  readonly overrides: readonly RuleView[];
  /** Class tokens of the file tools. */
  readonly folders: readonly RuleView[];
  /** One unconditional rule a tool, by the tool's name. */
  readonly tools: ReadonlyMap<string, RuleView>;
  readonly rest: readonly RuleView[];
  /** The last unconditional `*`. */
  readonly last: RuleView | undefined;
}

/** Sorts the rules of `groupId` into sections. */
export function sectionsOf(rules: readonly RuleView[], groupId: string): RuleSections {
  const own = rules.filter((rule) => rule.layer === "normal" && rule.groupId === groupId).sort(byOrder);
  const last = own.findLast((rule) => rule.toolPattern === "*" && isFree(rule) && rule.priority >= 0);
  const tools = new Map<string, RuleView>();
  const overrides: RuleView[] = [];
  const folders: RuleView[] = [];
  const rest: RuleView[] = [];
  for (const rule of own) {
    if (rule === last) continue;
    if (rule.priority < 0) overrides.push(rule);
    else if (isFolderRule(rule)) folders.push(rule);
    else if (isExact(rule) && isFree(rule) && !tools.has(rule.toolPattern)) tools.set(rule.toolPattern, rule);
    else rest.push(rule);
  }
  return {
    protected: rules.filter((rule) => rule.layer === "protected").sort(byOrder),
    overrides,
    folders,
    tools,
    rest,
    last,
  };
}

/** Whether a rule covers every call of its tools. */
export function isFree(rule: RuleView): boolean {
  return rule.pathPattern === null && rule.argvPrefix === null && rule.agent === null &&
    rule.source === null && rule.expiresAt === null && rule.maxUses === null;
}

function isExact(rule: RuleView): boolean {
  return !rule.toolPattern.startsWith("@") && !rule.toolPattern.endsWith("*");
}

/** What the folder panel can show and change without losing anything. */
function isFolderRule(rule: RuleView): boolean {
  return rule.toolPattern.startsWith("@fs_") && rule.argvPrefix === null;
}

function byOrder(a: RuleView, b: RuleView): number {
  return a.priority - b.priority || a.ordinal - b.ordinal;
}

/** What a person gives up when a rule is replaced by another with this action: nothing else of it changes. */
export function withAction(rule: RuleView, action: RuleAction): RuleInput {
  return { ...inputOf(rule), action };
}

/** The rule as it would be written again. */
export function inputOf(rule: RuleView): Required<RuleInput> {
  const { groupId, priority, action, toolPattern, pathPattern, argvPrefix, agent, source, note } = rule;
  const limits = { expiresAt: rule.expiresAt, maxUses: rule.maxUses };
  return { groupId, priority, action, toolPattern, pathPattern, argvPrefix, agent, source, note, ...limits };
}

/** The rule that the matrix writes for a tool. */
export function toolRule(groupId: string, tool: string, action: RuleAction): RuleInput {
  return { groupId, toolPattern: tool, action, priority: TOOL_PRIORITY };
}

/** The last rule of a group. */
export function lastRule(groupId: string, action: RuleAction): RuleInput {
  return { groupId, toolPattern: "*", action, priority: LAST_PRIORITY };
}

/** What the folder panel offers, in the order in which it is shown. */
export const folderChoices = {
  read: { toolPattern: "@fs_read", action: "allow" },
  write: { toolPattern: "@fs_any", action: "allow" },
  ask: { toolPattern: "@fs_any", action: "ask" },
  deny: { toolPattern: "@fs_any", action: "deny" },
} as const satisfies Record<string, Pick<RuleInput, "toolPattern" | "action">>;
export type FolderChoice = keyof typeof folderChoices;

/** What a folder rule says in the panel's words; undefined when it says something the panel has no word for. */
export function folderChoiceOf(rule: RuleView): FolderChoice | undefined {
  for (const choice of ["read", "write", "ask", "deny"] as const) {
    const { toolPattern, action } = folderChoices[choice];
    if (rule.toolPattern === toolPattern && rule.action === action) return choice;
  }
  return undefined;
}

/** The rule for a folder: the deeper it lies, the earlier it is looked at, so the longest path wins. Undefined for no folder. */
export function folderRule(groupId: string, folder: string, choice: FolderChoice): RuleInput | undefined {
  const names = folder.replaceAll("\\", "/").split("/").filter((name) => name !== "" && name !== ".");
  if (names.at(-1) === "*" || names.at(-1) === "**") names.pop();
  if (names.length === 0 || names.includes("..")) return undefined;
  const priority = FOLDER_PRIORITY - 10 * Math.min(names.length, 80);
  return { groupId, ...folderChoices[choice], pathPattern: `/${names.join("/")}/*`, priority };
}

/** What policy says to a call of this tool without a path or a command that a rule could name. */
export function verdictFor(
  rules: readonly RuleView[],
  { group, facts, stands, now }: {
    readonly group: string;
    readonly facts: ToolFacts;
    readonly stands?: Pick<Call, "source" | "mode" | "twoPersons">;
    readonly now: number;
  },
): Verdict {
  // A program that no rule names: a denial of one program is not what a call of the shell comes to.
  const argv = facts.class === "exec" ? ["\u0000"] : undefined;
  const bare = { source: "unknown", paths: [], outside: [], argv, askOnce: false, known: true };
  const call = { ...facts, ...bare, ...stands };
  return judge({ rules, bypasses: [] }, call, { conversation: "", group, now });
}

/** What happens to a call that no rule names. */
export function verdictForRest(rules: readonly RuleView[], group: string, now: number): Verdict {
  return verdictFor(rules, { group, facts: { tool: "\u0000", class: "mcp" }, now });
}

/** What happens when a file tool touches a path in the workspace that no rule names. */
export function verdictForFiles(
  rules: readonly RuleView[],
  { group, access, now }: { readonly group: string; readonly access: "read" | "write"; readonly now: number },
): Verdict {
  const place = { source: "builtin", paths: [{ path: "/\u0000", access }], outside: [] };
  const call = { tool: "\u0000", class: access, ...place, askOnce: false, known: true };
  return judge({ rules, bypasses: [] }, call, { conversation: "", group, now });
}

const classes: readonly ToolFacts["class"][] = ["read", "write", "exec", "plan", "schedule", "mcp"];

/** What patterns are matched against: what a server says of its tool only where it is believed. */
export function factsOf({ name, class: kind, hints, trusted }: ToolView): ToolFacts {
  return {
    tool: name,
    class: classes.find((known) => known === kind) ?? "mcp",
    hints: trusted ? hints : undefined,
  };
}

/** What policy says to a call of a tool as it stands in the list, with what the configuration says of it. */
export function verdictForTool(
  rules: readonly RuleView[],
  tool: ToolView,
  { group, twoPersons, now }: {
    readonly group: string;
    readonly twoPersons: readonly string[];
    readonly now: number;
  },
): Verdict {
  const facts = factsOf(tool);
  const { source, mode } = tool;
  const stands = { source, mode, twoPersons: needsTwo({ twoPersons }, facts) };
  return verdictFor(rules, { group, facts, stands, now });
}

/** The matrix: tools by class, those of MCP servers by server. File tools are the folder panel's. */
export function toolGroups(tools: readonly ToolView[]): (readonly [name: string, tools: ToolView[]])[] {
  const groups = new Map<string, ToolView[]>();
  for (const tool of [...tools].sort((a, b) => a.name.localeCompare(b.name))) {
    if (tool.class === "read" || tool.class === "write") continue;
    const name = tool.source.startsWith("mcp:") ? tool.source : tool.class;
    groups.set(name, [...groups.get(name) ?? [], tool]);
  }
  return [...groups].sort(([a], [b]) => Number(a.startsWith("mcp:")) - Number(b.startsWith("mcp:")));
}

/** Whether a group stands behind every other one. */
export function isDefaultGroup(id: string): boolean {
  return id === DEFAULT_GROUP;
}
