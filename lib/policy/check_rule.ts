/**
 * Whether a rule may be saved. Refuses patterns that could never match or that a person would misread, and allowances whose command prefix is
 * only a wrapper: they would allow whatever is wrapped. Proven by `policy_test.ts`.
 */
import { pathPatternProblem } from "./path_pattern.ts";
import type { RuleAction } from "./rule.ts";
import { toolPatternProblem } from "./tool_pattern.ts";

/** What a person wrote. */
export interface RuleText {
  readonly action: RuleAction;
  readonly toolPattern: string;
  readonly pathPattern: string | null;
  readonly argvPrefix: readonly string[] | null;
}

/** Programs that run whatever words follow them. */
const runners: ReadonlySet<string> = new Set(
  ("busybox chroot doas env eval exec nice nohup parallel script setsid ssh stdbuf su sudo time timeout unshare watch xargs")
    .split(" "),
);

/** Programs that run a text or file they are given; harmless only when that is named. */
const interpreters: ReadonlySet<string> = new Set(
  ("ash awk bash bun bunx bwrap cmd csh dash deno docker find fish gawk git ksh lua node nodejs npm npx osascript perl php podman " +
    "powershell pwsh python ruby sh tmux zsh").split(" "),
);

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
  const name = program.slice(program.lastIndexOf("/") + 1).toLowerCase().replace(/[\d.]+$/, "");
  if (runners.has(name) || interpreters.has(name) && words.every((word) => word.startsWith("-"))) {
    return `allowing "${
      rule.argvPrefix.join(" ")
    }" would allow any command that it runs; name the command itself`;
  }
  return undefined;
}
