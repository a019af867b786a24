/**
 * The second word on *for this session*: which calls will run without asking and for how long, said in plain words before it is granted. Wider than the one
 * tool only the owner may grant. Escape and *back* grant nothing. Proven by `tests/browser/decide_test.ts`.
 */
import { useSignal } from "@preact/signals";
import type { BypassScope, Item } from "../../../edge/api.ts";
import { printableLine } from "../../../lib/printable.ts";
import { strings } from "../../strings.ts";
import { Link } from "../link.tsx";
import { isOwner, useApp } from "../use_app.ts";
import { useFocus } from "../use_focus.ts";

const words = strings.decide;

/** Seconds to choose from; the longest is the longest life of a session. */
const SPANS = [900, 3_600, 28_800] as const;
const SESSION_SECONDS = 28_800;

interface SessionFormProps {
  readonly item: Item;
  readonly busy: boolean;
  readonly back: () => void;
}

/** What it grants, and the two answers. */
export function SessionForm({ item, busy, back }: SessionFormProps) {
  const app = useApp();
  const focus = useFocus<HTMLButtonElement>();
  const scope = useSignal<BypassScope>("tool");
  const seconds = useSignal<number>(SESSION_SECONDS);
  const scopes = isOwner(app) ? scopesFor(item) : [];
  const send = () =>
    void app.inbox.decide(item, { decision: "allow_session", scope: scope.value, seconds: seconds.value });
  return (
    <div
      class="decide decide-form"
      role="group"
      aria-label={words.sessionTitle}
      onKeyDown={(event) => event.key === "Escape" && back()}
    >
      <p class="form-title">{words.sessionTitle}</p>
      {scopes.length > 1 && (
        <fieldset class="scopes">
          <legend>{words.alwaysScope}</legend>
          {scopes.map((known) => (
            <label key={known} class="scope">
              <input
                type="radio"
                name={`session-scope-${item.id}`}
                checked={scope.value === known}
                onChange={() => scope.value = known}
              />
              <span>{labelOf(known, item)}</span>
            </label>
          ))}
        </fieldset>
      )}
      <label class="field">
        <span>{words.sessionFor}</span>
        <select
          value={`${seconds.value}`}
          onChange={(event) => seconds.value = Number(event.currentTarget.value)}
        >
          {SPANS.map((span) => <option key={span} value={`${span}`}>{words.sessionSpans[span]}</option>)}
        </select>
      </label>
      <p id={`session-${item.id}`} aria-live="polite">
        <Grant item={item} scope={scope.value} seconds={seconds.value} />
      </p>
      <div class="decide-main decide-apart">
        <button
          ref={focus}
          type="button"
          class="button large"
          aria-describedby={`session-${item.id}`}
          onClick={back}
        >
          {words.cancel}
        </button>
        <button type="button" class="button danger-solid large" disabled={busy} onClick={send}>
          {words.sendSession}
        </button>
      </div>
    </div>
  );
}

interface GrantProps {
  readonly item: Item;
  readonly scope: BypassScope;
  readonly seconds: number;
}

function Grant({ item, scope, seconds }: GrantProps) {
  const span = SPANS.find((known) => known === seconds) ?? SESSION_SECONDS;
  return (
    <>
      {words.sessionRuns(labelOf(scope, item), words.sessionSpans[span])}{" "}
      {scope === "all" && <strong>{words.sessionAll}</strong>} {words.sessionEnds}{" "}
      <Link to={{ name: "policy", page: "bypasses" }}>{words.sessionWhere}</Link>.
    </>
  );
}

/** What may be granted beyond the tool, as approval understands it: kinds of our own tools, or all tools of the server that this one is of. */
function scopesFor({ described }: Item): BypassScope[] {
  if (described === undefined) return ["tool"];
  return ["tool", described.source.startsWith("mcp:") ? "mcp" : "category", "all"];
}

function labelOf(scope: BypassScope, { tool, kind, described }: Item): string {
  switch (scope) {
    case "tool":
      return words.sessionScopes.tool(printableLine(tool ?? strings.inbox.kinds[kind]));
    case "category":
      return words.sessionScopes.category(strings.policy.classes[described?.class ?? "exec"]);
    case "mcp":
      return words.sessionScopes.mcp(printableLine(described?.source.slice("mcp:".length) ?? ""));
    case "all":
      return words.sessionScopes.all;
    default:
      return scope satisfies never;
  }
}
