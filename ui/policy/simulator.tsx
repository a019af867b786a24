/**
 * What would happen if: a call that is described here is judged by the server with the function that judges real ones, and every step is shown.
 */
import { type Signal, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { ExplainAnswer, ExplainRequest, RuleView } from "../../edge/api.ts";
import { printableLine } from "../../lib/printable.ts";
import { ActionTag } from "../parts/action_chips.tsx";
import { Failure } from "../parts/feedback.tsx";
import { Link } from "../parts/link.tsx";
import { useApp } from "../parts/use_app.ts";
import { HostileText } from "../render/hostile_text.tsx";
import { policyStrings } from "../strings/policy.ts";
import { PolicyHead } from "./policy.tsx";
import { RuleMatch } from "./rule_row.tsx";

const words = policyStrings.try;
const steps: Readonly<Record<string, string>> = words.steps;

interface Attempt {
  readonly tool: string;
  readonly path: string;
  readonly access: "read" | "write";
  readonly command: string;
  readonly group: string;
  /** Empty: none, and `group` says by which rules. */
  readonly profile: string;
  readonly source: "" | "web" | "channel" | "dm";
  readonly trigger: "person" | "schedule";
}

/** The screen. */
export function Simulator() {
  const { policy } = useApp();
  const { explain } = policy;
  const attempt = useSignal<Attempt>({
    tool: "exec_command",
    path: "",
    access: "read",
    command: "",
    group: "default",
    profile: "",
    source: "",
    trigger: "person",
  });
  useEffect(() => {
    void Promise.all([policy.tools.load(), policy.rules.load(), policy.profiles.load()]);
    return () => explain.clear();
  }, []);
  return (
    <div class="screen policy">
      <PolicyHead title={policyStrings.pages.try.title} note={policyStrings.pages.try.note} />
      <div class="try-columns">
        <form
          class="card try-form"
          onSubmit={(event) => {
            event.preventDefault();
            void explain.ask(requestOf(attempt.value));
          }}
        >
          <Fields attempt={attempt} />
          <button
            type="submit"
            class="button primary large"
            disabled={explain.isBusy.value || attempt.value.tool.trim() === ""}
          >
            {explain.isBusy.value ? words.busy : words.submit}
          </button>
          <p class="hint">{words.note}</p>
        </form>
        <div aria-live="polite">
          {explain.error.value !== undefined && <Failure message={explain.error.value} />}
          {explain.answer.value && <Verdict answer={explain.answer.value} />}
        </div>
      </div>
    </div>
  );
}

function Fields({ attempt }: { readonly attempt: Signal<Attempt> }) {
  const { policy } = useApp();
  const groups = policy.rules.value.value?.groups ?? [];
  const profiles = policy.profiles.value.value?.profiles ?? [];
  const tools = policy.tools.value.value?.tools ?? [];
  const known = tools.find((tool) => tool.name === attempt.value.tool);
  const set = (more: Partial<Attempt>) => {
    attempt.value = { ...attempt.value, ...more };
  };
  const text = (of: "tool" | "path" | "command", label: string, list?: string, required = false) => (
    <label class="field">
      <span>{label}</span>
      <input
        type="text"
        class="mono"
        required={required}
        list={list}
        autocapitalize="off"
        spellcheck={false}
        value={attempt.value[of]}
        onInput={(event) => set({ [of]: event.currentTarget.value })}
      />
    </label>
  );
  const choice = (
    of: "access" | "group" | "profile" | "source" | "trigger",
    label: string,
    options: readonly (readonly [string, string])[],
  ) => (
    <label class="field">
      <span>{label}</span>
      {/* The options are this member's own values. */}
      <select value={attempt.value[of]} onChange={(event) => set({ [of]: event.currentTarget.value })}>
        {options.map(([value, name]) => <option key={value} value={value}>{name}</option>)}
      </select>
    </label>
  );
  return (
    <>
      {text("tool", words.tool, "try-tools", true)}
      <datalist id="try-tools">{tools.map(({ name }) => <option key={name} value={name} />)}</datalist>
      {(known === undefined || known.class === "exec") &&
        text("command", words.command, undefined, known !== undefined)}
      {known?.class !== "exec" && (
        <div class="field-pair">
          {text("path", words.path)}
          {choice("access", words.access, Object.entries(words.accesses))}
        </div>
      )}
      <div class="field-pair">
        {choice("profile", words.profile, [["", words.noProfile], ...named(profiles)])}
        {attempt.value.profile === "" && choice("group", words.group, named(groups))}
      </div>
      {choice("source", words.source, Object.entries(policyStrings.rule.places))}
      {choice("trigger", words.trigger, Object.entries(words.triggers))}
    </>
  );
}

function named(all: readonly { readonly id: string; readonly name: string }[]): [string, string][] {
  return all.map(({ id, name }) => [id, printableLine(name)]);
}

function requestOf(
  { tool, path, access, command, group, profile, source, trigger }: Attempt,
): ExplainRequest {
  return {
    tool: tool.trim(),
    ...(profile === "" ? { group } : { profile }),
    trigger,
    ...(path.trim() === "" ? {} : { paths: [{ path: path.trim(), access }] }),
    ...(command.trim() === "" ? {} : { command: command.trim() }),
    ...(source === "" ? {} : { source }),
  };
}

function Verdict({ answer }: { readonly answer: ExplainAnswer }) {
  const rules = useApp().policy.rules.value.value?.rules ?? [];
  const byId = new Map(rules.map((rule) => [rule.id, rule]));
  const rule = byId.get(answer.ref);
  return (
    <section class="card verdict" data-outcome={answer.outcome} aria-labelledby="verdict">
      <div class="last-head">
        <h2 id="verdict">{words.outcomes[answer.outcome]}</h2>
        <ActionTag action={answer.outcome} />
      </div>
      <p class="verdict-by">
        {policyStrings.byWhat[answer.by]}
        {rule ? <RuleLink rule={rule} /> : <code class="word">{printableLine(answer.ref)}</code>}
      </p>
      <h3>{words.why}</h3>
      <ol class="trace">
        {answer.trace.map((step, index) => {
          const found = step.ref === undefined ? undefined : byId.get(step.ref);
          return (
            <li key={index}>
              <span class="trace-step">{steps[step.step] ?? printableLine(step.step)}</span>
              <span class="trace-outcome">
                <HostileText text={step.outcome} line />
              </span>
              {found
                ? <RuleLink rule={found} />
                : step.ref !== undefined && <code class="word">{printableLine(step.ref)}</code>}
            </li>
          );
        })}
      </ol>
    </section>
  );
}

function RuleLink({ rule }: { readonly rule: RuleView }) {
  return (
    <Link to={{ name: "rule_group", id: rule.groupId }} class="rule-link">
      <RuleMatch rule={rule} />
    </Link>
  );
}
