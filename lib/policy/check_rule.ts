/**
 * Whether a rule may be saved. Refuses patterns that could never match or that a person would misread, and allowances whose command prefix is
 * only a wrapper: they would allow whatever is wrapped. Proven by `policy_test.ts`.
 */
import { pathPatternProblem } from "./path_pattern.ts";
import { isInterpreter, isRunner, leavesOpen } from "./programs.ts";
import type { RuleAction } from "./rule.ts";
import { baseName } from "./shell_line.ts";
import { toolPatternProblem } from "./tool_pattern.ts";

/** What a person wrote. */
export interface RuleText {
  readonly action: RuleAction;
  readonly toolPattern: string;
  readonly pathPattern: string | null;
  readonly argvPrefix: readonly string[] | null;
}

/** The first problem, in words for the person who wrote the rule, or undefined. */
export function ruleProblem(rule: RuleText): string | undefined {
  const tool = toolPatternProblem(rule.toolPattern);
  if (tool) return tool;
  const path = rule.pathPattern === null ? undefined : pathPatternProblem(rule.pathPattern);
  if (path) return path;
  if (rule.argvPrefix === null) return undefined;
  const [program, ...words] = rule.argvPrefix;
  if (!program) return "a command prefix names at least a program";
  if (rule.action !== "allow") return undefined;
  const name = baseName(program);
  if (isRunner(name) || isInterpreter(name) && leavesOpen(name, words)) {
    return `allowing "${
      rule.argvPrefix.join(" ")
    }" would allow any command that it runs; name the command itself`;
  }
  return undefined;
}
