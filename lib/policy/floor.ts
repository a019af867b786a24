/**
 * Protected places: those that are denied even when the rules cannot be read (the seeds write the same ones as rules), and those that commands must not
 * see either, which name no paths that a rule could meet. Proven by `policy_test.ts`.
 */
import { isLive, type Rule } from "./rule.ts";
import { DEFAULT_GROUP } from "./rule_order.ts";
import { matchesTool } from "./tool_pattern.ts";

/** Protected places of every installation. */
export const secretPatterns = ["/**/secrets/*", "/**/.secrets/*", "/**/.ssh/*", "/**/.gnupg/*"] as const;

/** They as rules. */
export const floorRules: readonly Rule[] = secretPatterns.map((pathPattern, ordinal) => ({
  id: `floor_${ordinal}`,
  groupId: DEFAULT_GROUP,
  layer: "protected",
  ordinal,
  priority: 0,
  action: "deny",
  toolPattern: "*",
  pathPattern,
  argvPrefix: null,
  agent: null,
  source: null,
  expiresAt: null,
  maxUses: null,
  uses: 0,
}));

/**
 * The path patterns of what no command may see: whatever a protected rule denies to readers or to commands, whoever asks and from wherever.
 * `rules: null` says that they cannot be read.
 */
export function hiddenPatterns(rules: readonly Rule[] | null, now: number): readonly string[] {
  const hides = ({ layer, action, toolPattern }: Rule) =>
    layer === "protected" && action === "deny" &&
    (matchesTool(toolPattern, { tool: "read_file", class: "read" }) ||
      matchesTool(toolPattern, { tool: "exec_command", class: "exec" }));
  const patterns = (rules ?? floorRules).filter((rule) => hides(rule) && isLive(rule, now))
    .flatMap(({ pathPattern }) => pathPattern === null ? [] : [pathPattern]);
  return [...new Set(patterns)];
}
