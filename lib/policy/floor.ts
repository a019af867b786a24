/** What is denied when the rules cannot be read: the same protected places as the seeds write as rules. Proven by `policy_test.ts`. */
import type { Rule } from "./rule.ts";
import { DEFAULT_GROUP } from "./rule_order.ts";

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
