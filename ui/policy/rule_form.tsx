/**
 * Writing a rule: every field that the engine knows, what it would have matched, and the engine's own word on whether it may be saved.
 */
import { type Signal, useSignal } from "@preact/signals";
import type { RuleInput, RuleView } from "../../edge/api.ts";
import { ruleProblem } from "../../lib/policy/check_rule.ts";
import type { RuleAction } from "../../lib/policy/rule.ts";
import { ActionChips } from "../parts/action_chips.tsx";
import { ChangeNote, useIsBusy } from "../parts/change_note.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { RulePreview } from "../parts/decide/rule_preview.tsx";
import { useApp } from "../parts/use_app.ts";
import { policyStrings } from "../strings/policy.ts";
import { type Draft, draftOf, expiries, type Expiry, limitProblem, ruleOf } from "./rule_draft.ts";

const words = policyStrings.rule;
const KEY = "rule-form";
/** Patterns for many tools, as they are offered while one types. */
const patterns = [
  "*",
  "mcp__*",
  "@fs_read",
  "@fs_write",
  "@fs_any",
  "@mcp_read_only",
  "@mcp_destructive",
  "@mcp_open_world",
] as const;

interface RuleFormProps {
  readonly groupId: string;
  /** The rule that is changed; a new one when left out. */
  readonly rule?: RuleView | undefined;
  readonly close: () => void;
}

/** The dialog. */
export function RuleForm({ groupId, rule, close }: RuleFormProps) {
  const { policy, now } = useApp();
  const draft = useSignal(draftOf(rule));
  const isBusy = useIsBusy(KEY);
  const input = ruleOf(draft.value, { groupId, rule, now: now.peek() });
  const problem = draft.value.toolPattern.trim() === ""
    ? undefined
    : problemOf(input) ?? limitProblem(draft.value.maxUses);
  const leave = () => {
    policy.changes.forget(KEY);
    close();
  };
  const save = async (event: Event) => {
    event.preventDefault();
    const { commands, changes } = policy;
    const send = () => rule ? commands.updateRule(rule.id, input) : commands.createRule(input);
    if (await changes.run(KEY, send)) close();
  };
  return (
    <Dialog title={rule ? words.editTitle : words.newTitle} close={leave}>
      <form class="dialog-form" onSubmit={(event) => void save(event)}>
        <ActionField draft={draft} />
        <ToolField draft={draft} />
        <Field draft={draft} of="pathPattern" label={words.path} hint={words.pathHint} mono />
        <Field draft={draft} of="argvPrefix" label={words.argv} hint={words.argvHint} mono lines />
        <details class="more-fields" open={rule !== undefined}>
          <summary>{policyStrings.rule.priority} · {words.expires} · {words.source}</summary>
          <div class="dialog-form">
            <Conditions draft={draft} canKeep={rule?.expiresAt != null} />
          </div>
        </details>
        {problem !== undefined && <p class="field-problem" role="alert">{problem}</p>}
        <RulePreview rule={problem === undefined && input.toolPattern !== "" ? input : undefined} />
        <ChangeNote of={KEY} />
        <div class="dialog-buttons">
          <button type="button" class="button" onClick={leave}>{policyStrings.cancel}</button>
          <button
            type="submit"
            class="button primary"
            disabled={isBusy || problem !== undefined || input.toolPattern === ""}
          >
            {words.save}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

type OfDraft = { readonly draft: Signal<Draft> };

function ActionField({ draft }: OfDraft) {
  const choose = (action: RuleAction | undefined) => {
    if (action) draft.value = { ...draft.value, action };
  };
  return <ActionChips label={words.action} value={draft.value.action} disabled={false} choose={choose} />;
}

function ToolField({ draft }: OfDraft) {
  const tools = useApp().policy.tools.value.value?.tools ?? [];
  return (
    <>
      <Field draft={draft} of="toolPattern" label={words.tool} hint={words.toolHint} mono list="rule-tools" />
      <datalist id="rule-tools">
        {[...patterns, ...tools.map(({ name }) => name)].map((name) => <option key={name} value={name} />)}
      </datalist>
    </>
  );
}

function Conditions({ draft, canKeep }: OfDraft & { readonly canKeep: boolean }) {
  const set = (more: Partial<Draft>) => {
    draft.value = { ...draft.value, ...more };
  };
  return (
    <>
      <Field draft={draft} of="priority" label={words.priority} hint={words.priorityHint} number />
      <label class="field">
        <span>{words.expires}</span>
        <select
          value={draft.value.expiry}
          onChange={(event) =>
            set({ expiry: expiries.find((known) => known === event.currentTarget.value) ?? "never" })}
        >
          {expiries.filter((known: Expiry) => known !== "keep" || canKeep).map((known) => (
            <option key={known} value={known}>{words.expiry[known]}</option>
          ))}
        </select>
      </label>
      <Field draft={draft} of="maxUses" label={words.maxUses} number />
      <label class="field">
        <span>{words.source}</span>
        <select value={draft.value.source} onChange={(event) => set({ source: event.currentTarget.value })}>
          {Object.entries(words.sources).map(([value, name]) => (
            <option key={value} value={value}>{name}</option>
          ))}
        </select>
      </label>
      <Field draft={draft} of="agent" label={words.agent} />
      <Field draft={draft} of="note" label={words.note} />
    </>
  );
}

interface FieldProps extends OfDraft {
  readonly of: Exclude<keyof Draft, "action" | "expiry" | "source">;
  readonly label: string;
  readonly hint?: string;
  readonly mono?: boolean;
  readonly lines?: boolean;
  readonly number?: boolean;
  readonly list?: string;
}

function Field({ draft, of, label, hint, mono = false, lines = false, number = false, list }: FieldProps) {
  const shared = {
    class: mono ? "mono" : undefined,
    value: draft.value[of],
    spellcheck: !mono,
    "aria-describedby": hint === undefined ? undefined : `rule-hint-${of}`,
    onInput: (event: { readonly currentTarget: { readonly value: string } }) => {
      draft.value = { ...draft.value, [of]: event.currentTarget.value };
    },
  };
  return (
    <label class="field">
      <span>{label}</span>
      {lines ? <textarea rows={Math.min(8, draft.value[of].split("\n").length + 1)} {...shared} /> : (
        <input
          type="text"
          inputMode={number ? "numeric" : undefined}
          autocapitalize="off"
          list={list}
          {...shared}
        />
      )}
      {hint !== undefined && <span class="hint" id={`rule-hint-${of}`}>{hint}</span>}
    </label>
  );
}

function problemOf(
  { action, toolPattern, pathPattern = null, argvPrefix = null }: RuleInput,
): string | undefined {
  return ruleProblem({ action, toolPattern, pathPattern, argvPrefix });
}
