/**
 * The order of rules of equal priority, changed one place at a time. Pure. Proven by `policy_test.ts`.
 */
import type { OrderRequest, RuleView } from "../../edge/api.ts";

/**
 * What puts `rule` on the other side of `neighbour`, which stands beside it on screen. All rules of the group with their priority are named, so that
 * those which are shown elsewhere keep their places. Undefined when a priority stands between the two: the order says nothing then.
 */
export function orderAfterMove(
  rules: readonly RuleView[],
  rule: RuleView,
  neighbour: RuleView | undefined,
): OrderRequest | undefined {
  if (neighbour === undefined || neighbour.priority !== rule.priority) return undefined;
  const ids = rules
    .filter(({ layer, groupId, priority }) =>
      layer === "normal" && groupId === rule.groupId && priority === rule.priority
    )
    .sort((a, b) => a.ordinal - b.ordinal)
    .map(({ id }) => id);
  const isEarlier = ids.indexOf(rule.id) < ids.indexOf(neighbour.id);
  const others = ids.filter((id) => id !== rule.id);
  others.splice(others.indexOf(neighbour.id) + (isEarlier ? 1 : 0), 0, rule.id);
  return { groupId: rule.groupId, ids: others };
}
