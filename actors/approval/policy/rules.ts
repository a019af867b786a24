/** Rules: made, changed, put in order, deleted and restored. What it means for items that wait is the caller's business. */
import { ruleProblem } from "../../../lib/policy/check_rule.ts";
import type { Rule } from "../../../lib/policy/rule.ts";
import type { PolicyCommand, RuleBody } from "../../protocol/approval.ts";
import { type Author, type Changed, missing, recordChange, UNREADABLE } from "./change_log.ts";
import type { Draft } from "../draft.ts";
import { identityOf } from "../items/items.ts";

/** The commands on rules. */
export type RuleCommand = Extract<
  PolicyCommand["command"],
  { readonly kind: "rule.create" | "rule.update" | "rule.order" | "rule.delete" | "rule.restore" }
>;

/** Carries out a command on rules, and records it. */
export function changeRules(draft: Draft, command: RuleCommand, by: Author): Changed {
  switch (command.kind) {
    case "rule.create":
      return addRule(draft, command.rule, by);
    case "rule.update":
      return updateRule(draft, command.id, command.rule, by);
    case "rule.order":
      return orderRules(draft, command, by);
    case "rule.delete":
      return deleteRule(draft, command.id, by);
    case "rule.restore":
      return restoreRule(draft, command, by);
    default:
      return command satisfies never;
  }
}

/** Adds a rule behind the others of its priority. */
export function addRule(draft: Draft, body: RuleBody, by: Author): Changed {
  const { rules } = draft.state;
  const refusal = unfit(draft, body);
  if (refusal) return refusal;
  if (!rules) return UNREADABLE;
  const ordinal = rules.reduce((highest, rule) => Math.max(highest, rule.ordinal), 0) + 1;
  const id = insert(draft, { ...body, id: draft.env.newId(), layer: "normal", ordinal }, by);
  recordChange(draft, by, "rule.create", { id, rule: body });
  return { ok: true, id };
}

function updateRule(draft: Draft, id: string, body: RuleBody, by: Author): Changed {
  const { rules } = draft.state;
  const before = rules?.find((rule) => rule.id === id);
  if (!rules || !before) return missing("There is no such rule");
  const refusal = unfit(draft, body);
  if (refusal) return refusal;
  if (before.layer === "protected" && (body.action !== "deny" || body.groupId !== before.groupId)) {
    return { ok: false, code: "bad_request", message: "A protected rule can only deny, in its group" };
  }
  const after: Rule = { ...before, ...body, uses: 0, since: draft.env.now };
  draft.op({ op: "rule.update", ...body, argvPrefix: body.argvPrefix && [...body.argvPrefix], id });
  draft.patch({ rules: rules.map((rule) => rule.id === id ? after : rule) });
  recordChange(draft, by, "rule.update", { id, before: bodyOf(before), after: body });
  return { ok: true, id };
}

/** The rules that are named take each other's places; where priorities differ, these still come first. */
function orderRules(
  draft: Draft,
  { groupId, ids }: Extract<RuleCommand, { kind: "rule.order" }>,
  by: Author,
): Changed {
  const { rules } = draft.state;
  const named = rules?.filter((rule) =>
    rule.groupId === groupId && rule.layer === "normal" && ids.includes(rule.id)
  );
  if (!rules || named?.length !== ids.length) return missing("Not all of these are rules of this group");
  const before = [...named].sort((a, b) => a.ordinal - b.ordinal);
  const ordinals = new Map(ids.map((id, index) => [id, before[index]?.ordinal ?? index]));
  draft.op({ op: "rule.order", ordinals: [...ordinals].map(([id, ordinal]) => ({ id, ordinal })) });
  draft.patch({ rules: rules.map((rule) => ({ ...rule, ordinal: ordinals.get(rule.id) ?? rule.ordinal })) });
  recordChange(draft, by, "rule.order", { groupId, before: before.map((rule) => rule.id), after: ids });
  return { ok: true, id: groupId };
}

function deleteRule(draft: Draft, id: string, by: Author): Changed {
  if (draft.state.rules === null) return repair(draft, id, by);
  const rule = draft.state.rules.find((candidate) => candidate.id === id);
  if (!rule) return missing("There is no such rule");
  draft.op({ op: "rule.delete", id });
  draft.patch({ rules: draft.state.rules.filter((candidate) => candidate.id !== id) });
  const { layer, ordinal } = rule;
  recordChange(draft, by, "rule.delete", { id, layer, ordinal, rule: bodyOf(rule) });
  return { ok: true, id };
}

/** Deletes a rule that cannot be read. When none of them is left, policy is whole again. */
function repair(draft: Draft, id: string, by: Author): Changed {
  const { readable, broken } = draft.state.repair;
  if (!broken.includes(id)) return UNREADABLE;
  const left = broken.filter((other) => other !== id);
  draft.op({ op: "rule.delete", id });
  draft.patch({ repair: { readable, broken: left }, rules: left.length === 0 ? readable : null });
  recordChange(draft, by, "rule.repair", { id });
  return { ok: true, id };
}

function restoreRule(
  draft: Draft,
  { id, layer, ordinal, rule }: Extract<RuleCommand, { kind: "rule.restore" }>,
  by: Author,
): Changed {
  if (draft.state.rules?.some((known) => known.id === id)) {
    return { ok: false, code: "conflict", message: "The rule is there already" };
  }
  const refusal = unfit(draft, rule);
  if (refusal) return refusal;
  if (!draft.state.rules) return UNREADABLE;
  insert(draft, { ...rule, id, layer, ordinal }, by);
  recordChange(draft, by, "rule.restore", { id, rule });
  return { ok: true, id };
}

/** Writes a new rule to the rows and to memory. */
export function insert(
  draft: Draft,
  rule: RuleBody & Pick<Rule, "id" | "layer" | "ordinal">,
  by: Author,
): string {
  draft.op({
    op: "rule.create",
    ...rule,
    argvPrefix: rule.argvPrefix && [...rule.argvPrefix],
    createdBy: identityOf(by),
  });
  const made: Rule = { ...rule, uses: 0, since: draft.env.now };
  draft.patch({ rules: [...draft.state.rules ?? [], made] });
  return rule.id;
}

/** A rule as a person wrote it. */
export function bodyOf(rule: Rule): RuleBody {
  const { groupId, priority, action, toolPattern, pathPattern, agent, source, expiresAt, maxUses } = rule;
  const argvPrefix = rule.argvPrefix && [...rule.argvPrefix];
  const note = rule.note ?? null;
  return {
    groupId,
    priority,
    action,
    toolPattern,
    pathPattern,
    argvPrefix,
    agent,
    source,
    note,
    expiresAt,
    maxUses,
  };
}

function unfit(draft: Draft, body: RuleBody): Changed | undefined {
  const problem = ruleProblem(body);
  if (problem) return { ok: false, code: "bad_request", message: problem };
  if (!draft.state.groups.includes(body.groupId)) return missing(`There is no group "${body.groupId}"`);
  return undefined;
}
