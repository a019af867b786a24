/**
 * Patterns on tool names: an exact, case-sensitive name; a prefix that ends in `*`; a lone `*`; or a class token of the file tools, which goes
 * by what a tool was described as, not by what it is called. Proven by `policy_test.ts`.
 */

/** What a tool pattern is matched against. `class` is the toolbox's word for what the tool can do. */
export interface ToolFacts {
  readonly tool: string;
  readonly class: "read" | "write" | "exec" | "plan" | "schedule" | "mcp";
}

const classTokens: Readonly<Record<string, readonly ToolFacts["class"][]>> = {
  "@fs_read": ["read"],
  "@fs_write": ["write"],
  "@fs_any": ["read", "write"],
};

/** Whether the pattern covers the tool. */
export function matchesTool(pattern: string, facts: ToolFacts): boolean {
  if (pattern.startsWith("@")) return classTokens[pattern]?.includes(facts.class) ?? false;
  if (pattern.endsWith("*")) return facts.tool.startsWith(pattern.slice(0, -1));
  return pattern === facts.tool;
}

/** Why a tool pattern must not be saved, or undefined when it is sound. */
export function toolPatternProblem(pattern: string): string | undefined {
  if (pattern.startsWith("@") && !Object.hasOwn(classTokens, pattern)) {
    return `"${pattern}" is no class of tools; there are ${Object.keys(classTokens).join(", ")}`;
  }
  if (pattern.slice(0, -1).includes("*")) return "a `*` may only end a tool pattern";
  if (!/^[@A-Za-z0-9_.:*-]+$/.test(pattern)) return "a tool pattern has letters, digits and `_ - . : *` only";
  return undefined;
}
