/**
 * Patterns on tool names: an exact, case-sensitive name; a prefix that ends in `*`; a lone `*`; or a class token, which goes by what a tool was
 * described as, not by what it is called. The classes of MCP tools believe what a server says of its tools only where the server is configured
 * as trusted: every other tool counts as destructive and as reaching outside. Proven by `policy_test.ts` and `refinements_test.ts`.
 */
import type { Hints } from "./claims.ts";

/** What a tool pattern is matched against. `class` is the toolbox's word for what the tool can do. */
export interface ToolFacts {
  readonly tool: string;
  readonly class: "read" | "write" | "exec" | "plan" | "schedule" | "mcp";
  /** What a *trusted* server says of its tool; absent for every other one, whatever it says. */
  readonly hints?: Hints | undefined;
}

const classTokens: Readonly<Record<string, (facts: ToolFacts) => boolean>> = {
  "@fs_read": (facts) => facts.class === "read",
  "@fs_write": (facts) => facts.class === "write",
  "@fs_any": (facts) => facts.class === "read" || facts.class === "write",
  "@mcp_read_only": (facts) => facts.class === "mcp" && isReadOnly(facts),
  "@mcp_destructive": (facts) => {
    return facts.class === "mcp" && !isReadOnly(facts) && facts.hints?.destructive !== false;
  },
  "@mcp_open_world": (facts) => facts.class === "mcp" && facts.hints?.openWorld !== false,
};

function isReadOnly({ hints }: ToolFacts): boolean {
  return hints?.readOnly === true;
}

/** Whether the pattern covers the tool. */
export function matchesTool(pattern: string, facts: ToolFacts): boolean {
  if (pattern.startsWith("@")) return Object.hasOwn(classTokens, pattern) && !!classTokens[pattern]?.(facts);
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
