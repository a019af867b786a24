/**
 * One answer a tool: what is set for it in this group, what a call of it gets now, as the engine computes it, what the configuration says of it, and
 * what its server says. File tools are the folders' matter.
 */
import type { RuleView, ToolView } from "../../edge/api.ts";
import { printableLine } from "../../lib/printable.ts";
import { claimsOf } from "../../lib/policy/claims.ts";
import type { RuleAction } from "../../lib/policy/rule.ts";
import { ActionChips, ActionTag } from "../parts/action_chips.tsx";
import { ChangeNote, useIsBusy } from "../parts/change_note.tsx";
import { useApp } from "../parts/use_app.ts";
import { toolGroups, toolRule, verdictForTool, withAction } from "../store/rule_sections.ts";
import { policyStrings } from "../strings/policy.ts";

const words = policyStrings.rules;
const classes: Readonly<Record<string, string>> = words.toolClasses;

interface ToolMatrixProps {
  readonly groupId: string;
  readonly rules: readonly RuleView[];
  /** The rules that are one answer for a tool. */
  readonly set: ReadonlyMap<string, RuleView>;
  readonly edit: ((rule: RuleView) => void) | undefined;
}

/** The matrix. */
export function ToolMatrix(props: ToolMatrixProps) {
  const tools = useApp().policy.tools.value.value?.tools;
  if (tools === undefined) return null;
  const known = new Set(tools.map((tool) => tool.name));
  // A rule for a tool that is not known any more stays visible.
  const lost = [...props.set.keys()].filter((name) => !known.has(name)).map(lostTool);
  const groups = toolGroups([...tools, ...lost]);
  return (
    <section class="policy-section" aria-labelledby="tools">
      <h2 id="tools">{words.tools}</h2>
      <p class="hint">{words.toolsNote}</p>
      {groups.length === 0 && <p class="hint">{words.toolsNone}</p>}
      {groups.map(([name, members]) => (
        <details key={name} class="fold" open>
          <summary>
            <h3>
              {name.startsWith("mcp:") ? words.server(printableLine(name.slice(4))) : classes[name] ?? name}
            </h3>
            <span class="group-count">
              {words.configured(members.filter((tool) => props.set.has(tool.name)).length, members.length)}
            </span>
          </summary>
          <ul class="rule-list">{members.map((tool) => <Tool key={tool.name} tool={tool} {...props} />)}</ul>
        </details>
      ))}
    </section>
  );
}

function Tool({ tool, groupId, rules, set, edit }: ToolMatrixProps & { readonly tool: ToolView }) {
  const { policy, now } = useApp();
  const key = `tool/${groupId}/${tool.name}`;
  const isBusy = useIsBusy(key);
  const rule = set.get(tool.name);
  const twoPersons = policy.gate.value.value?.twoPersons ?? [];
  const verdict = verdictForTool(rules, tool, { group: groupId, twoPersons, now: now.peek() });
  const choose = (action: RuleAction | undefined) =>
    void policy.changes.run(key, () => {
      const { createRule, updateRule, deleteRule } = policy.commands;
      if (rule === undefined) return createRule(toolRule(groupId, tool.name, action ?? "ask"));
      return action === undefined ? deleteRule(rule.id) : updateRule(rule.id, withAction(rule, action));
    });
  const name = printableLine(tool.name);
  return (
    <li class="tool-row">
      <span class="tool-name-cell">
        <code class="rule-tool">{name}</code>
        <span class="hint">
          {words.gets} <ActionTag action={verdict.outcome} />
          {!tool.available && <>{" "}· {words.unavailable}</>}
        </span>
        <Claims tool={tool} />
      </span>
      {edit && (
        <ActionChips
          label={words.toolLabel(name)}
          value={rule?.action}
          canUnset
          disabled={isBusy}
          choose={choose}
        />
      )}
      <ChangeNote of={key} />
    </li>
  );
}

/** What the configuration says of a server's tool, and what its server does. */
function Claims({ tool: { mode, trusted = false, hints } }: { readonly tool: ToolView }) {
  const said = claimsOf(hints);
  return (
    <>
      {(mode !== undefined || trusted) && (
        <span class="badges">
          {mode !== undefined && (
            <span class={mode === "approve" ? "tag tag-danger" : "tag"}>{words.modes[mode]}</span>
          )}
          {trusted && <span class="tag">{words.trusted}</span>}
        </span>
      )}
      {said.length > 0 && <span class="hint">{words.says(said.join(", "), trusted)}</span>}
    </>
  );
}

function lostTool(name: string): ToolView {
  return {
    name,
    source: "unknown",
    class: "mcp",
    description: "",
    parameters: null,
    schemaHash: "",
    available: false,
    firstSeen: 0,
    lastSeen: 0,
  };
}
