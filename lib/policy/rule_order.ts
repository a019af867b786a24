/**
 * In which order rules are looked at: protected denials (all groups), the own group, the default group; within each, lower `priority` first, then
 * lower `ordinal`. The first rule that covers a call decides it, with one exception: when that rule is about paths, the one of the same
 * priority that names the path most closely decides in its place, so that of `/data/*` and `/data/private/*` the longer one holds however
 * they are ordered. Proven by `refinements_test.ts` and `reference_test.ts`.
 */
import { closeness } from "./path_pattern.ts";
import { type Call, type Context, coveredPaths, missReason, type Rule } from "./rule.ts";

/** The group of rules that stands behind every other one. */
export const DEFAULT_GROUP = "default";

/** A rule with the layer in which it is looked at. */
export interface Placed {
  readonly step: "protected" | "group" | "default";
  readonly rule: Rule;
}

/** The rules that concern a group, in order. Protected rules only ever deny. */
export function inOrder(rules: readonly Rule[], group: string): Placed[] {
  const layer = (step: Placed["step"], keep: (rule: Rule) => boolean) =>
    rules.filter(keep).sort(byOrder).map((rule) => ({ step, rule }));
  return [
    ...layer("protected", (rule) => rule.layer === "protected" && rule.action === "deny"),
    ...layer("group", (rule) => rule.layer === "normal" && rule.groupId === group && group !== DEFAULT_GROUP),
    ...layer("default", (rule) => rule.layer === "normal" && rule.groupId === DEFAULT_GROUP),
  ];
}

/** Of the first rule that covers the call and those behind it: the one that decides. It covers every path that the first one covers. */
export function closest(first: Placed, behind: readonly Placed[], call: Call, context: Context): Rule {
  const { rule } = first;
  if (rule.pathPattern === null) return rule;
  const paths = coveredPaths(rule, call);
  let best = rule;
  for (const { rule: other } of behind.filter((each) => areRivals(first, each))) {
    if (rank(other) <= rank(best) || missReason(other, call, context) !== undefined) continue;
    const covered = coveredPaths(other, call);
    if (paths.every((path) => covered.includes(path))) best = other;
  }
  return best;
}

/** Whether two rules are about paths and stand in one layer with one priority, so that the closer one decides. */
export function areRivals(a: Placed, b: Placed): boolean {
  return a.step === b.step && a.rule.priority === b.rule.priority && a.rule.pathPattern !== null &&
    b.rule.pathPattern !== null;
}

function rank({ pathPattern }: Rule): number {
  return pathPattern === null ? -1 : closeness(pathPattern);
}

function byOrder(a: Rule, b: Rule): number {
  return a.priority - b.priority || a.ordinal - b.ordinal;
}
