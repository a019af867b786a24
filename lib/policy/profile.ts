/**
 * What a profile itself says of calls, beside the group of rules that it chooses: tools that it leaves out, which nothing then allows, and paths
 * that its agent may write to without a question, which lifts no denial. Reading inside the workspace needs no such allowance, and nothing
 * outside it can be named. Proven by `profile_test.ts`.
 */
import { normalizePattern, pathPatternProblem } from "./path_pattern.ts";
import type { Call } from "./rule.ts";
import { matchesTool, type ToolFacts, toolPatternProblem } from "./tool_pattern.ts";

/** The profile of every conversation for which nobody chose another; it stays. */
export const DEFAULT_PROFILE = "default";

/** The part of a profile that is judged by. */
export interface ProfileTerms {
  /** Virtual paths; each stands for itself and everything below it. */
  readonly writePaths: readonly string[];
  /** Patterns of tools. */
  readonly excludedTools: readonly string[];
}

/** Whether the profile leaves the tool out. */
export function leavesOut(terms: ProfileTerms, facts: ToolFacts): boolean {
  return terms.excludedTools.some((pattern) => matchesTool(pattern, facts));
}

/** Whether the call is one of our own file tools that writes, and touches nothing but what the profile lets it write to. */
export function mayWrite(terms: ProfileTerms, call: Call): boolean {
  return call.class === "write" && call.source === "builtin" && call.paths.length > 0 &&
    call.paths.every(({ path }) => terms.writePaths.some((root) => isWithin(path, root)));
}

/** Why a profile may not be saved, in words for the person who wrote it, or undefined. */
export function profileProblem({ writePaths, excludedTools }: ProfileTerms): string | undefined {
  for (const path of writePaths) {
    if (/[*?]/.test(path)) {
      return `"${path}" has a wildcard; a path here stands for itself and all below it`;
    }
    const problem = pathPatternProblem(path);
    if (problem !== undefined) return problem;
  }
  return excludedTools.map(toolPatternProblem).find((problem) => problem !== undefined);
}

/** Name by name: `/a/bc` is not within `/a/b`. */
function isWithin(path: string, root: string): boolean {
  const normal = normalizePattern(root);
  return normal === "/" ? path.startsWith("/") : path === normal || path.startsWith(`${normal}/`);
}
