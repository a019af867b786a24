/**
 * A tool call in the transcript: one line with its state, its output below, and, while it waits, the same card as in the inbox, so that it can be decided
 * where one reads.
 */
import type { ArgumentChange, CallAllowed } from "../../lib/conversation_event.ts";
import { printableLine } from "../../lib/printable.ts";
import type { CallItem } from "../../lib/transcript_view.ts";
import { ItemCard } from "../parts/item/item_card.tsx";
import { jsonOf } from "../parts/item/item_facts.tsx";
import { Link } from "../parts/link.tsx";
import { FoldedText } from "../parts/item/preview.tsx";
import { useApp } from "../parts/use_app.ts";
import { HostileText } from "../render/hostile_text.tsx";
import { durationOf } from "../render/time.ts";
import type { Route } from "../router.ts";
import { strings } from "../strings.ts";

const words = strings.calls;
const SUMMARY_CHARS = 160;

/** The call. */
export function CallView({ call }: { readonly call: CallItem }) {
  const { inbox } = useApp();
  const item = call.itemId === undefined ? undefined : inbox.items.value.get(call.itemId);
  const output = call.result ?? call.output;
  const isRunning = call.state === "running";
  return (
    <div class="call" data-state={call.outcome ?? call.state}>
      <details open={isRunning && output !== ""}>
        <summary>
          <span class="call-dot" aria-hidden="true" />
          <code class="call-tool">
            <HostileText text={call.tool} line />
          </code>
          <span class="call-summary">
            <HostileText text={summaryOf(call.arguments, call.changes)} line />
          </span>
          {isEdited(call) && <span class="tag call-edited">{words.edited}</span>}
          <span class="call-state">{stateOf(call)}</span>
        </summary>
        <div class="call-body">
          <FoldedText text={prettyJson(call.arguments)} />
          <p class="call-label">{strings.chat.output}</p>
          {output === "" ? <p class="hint">{strings.chat.noOutput}</p> : <FoldedText text={output} />}
          {call.allowed && <Allowed call={call} allowed={call.allowed} />}
          {isEdited(call) && <Changes changes={call.changes ?? []} />}
          {call.state !== "waiting" && <InboxLink call={call} />}
        </div>
      </details>
      {call.state === "waiting" && item !== undefined && <ItemCard item={item} inChat />}
      {call.state === "waiting" && item === undefined && <InboxLink call={call} />}
    </div>
  );
}

/** By what the call ran: a rule, a bypass, the way past the rules for plain reads, or a person. */
function Allowed({ call, allowed }: { readonly call: CallItem; readonly allowed: CallAllowed }) {
  const { by } = allowed;
  switch (by) {
    case "rule":
      return <AllowedLink to={{ name: "policy", page: "rules" }}>{words.allowed.rule}</AllowedLink>;
    case "bypass":
      return <AllowedLink to={{ name: "policy", page: "bypasses" }}>{words.allowed.bypass}</AllowedLink>;
    case "profile":
      return <AllowedLink to={{ name: "policy", page: "profiles" }}>{words.allowed.profile}</AllowedLink>;
    case "fast_path":
      return <p class="hint">{words.allowed.fastPath}</p>;
    case "decision":
      return (
        <p class="hint">
          {call.decision === undefined
            ? words.allowed.person
            : words.allowed.by(printableLine(call.decision.by))}
        </p>
      );
    default:
      return by satisfies never;
  }
}

function AllowedLink({ to, children }: { readonly to: Route; readonly children: string }) {
  return (
    <p class="hint">
      <Link to={to}>{children}</Link>
    </p>
  );
}

/** What a person changed before they allowed it. */
function Changes({ changes }: { readonly changes: readonly ArgumentChange[] }) {
  return (
    <>
      <p class="call-label">{words.changed}</p>
      <ul class="call-changes">
        {changes.map(({ name, before, after }) => (
          <li key={name}>
            <code>
              <HostileText text={name} line />
            </code>
            : {before === undefined ? words.absent : (
              <del>
                <HostileText text={before} line />
              </del>
            )}
            {" → "}
            {after === undefined ? words.absent : (
              <ins>
                <HostileText text={after} line />
              </ins>
            )}
          </li>
        ))}
      </ul>
    </>
  );
}

/** The item that the call waited for. */
function InboxLink({ call }: { readonly call: CallItem }) {
  if (call.itemId === undefined) return null;
  return <Link to={{ name: "inbox", item: call.itemId }} class="call-link">{strings.chat.inInbox}</Link>;
}

function stateOf(call: CallItem): string {
  const parts: string[] = [];
  if (call.state === "ended") parts.push(call.outcome === undefined ? words.finished : words[call.outcome]);
  else parts.push(call.state === "queued" ? words.begun : words[call.state]);
  if (call.exitCode !== undefined && call.exitCode !== 0) parts.push(words.exit(call.exitCode));
  if (call.durationMs !== undefined) parts.push(durationOf(call.durationMs));
  return parts.join(" · ");
}

/** Whether a person changed the call before they allowed it: then it is not the one that the agent made. */
function isEdited({ changes = [] }: CallItem): boolean {
  return changes.length > 0;
}

/** The most telling argument, as a person left it: the first string, else the text itself. */
export function summaryOf(text: string, changes: readonly ArgumentChange[] = []): string {
  const value = parsed(text);
  if (typeof value !== "object" || value === null) return text.slice(0, SUMMARY_CHARS);
  const changed = changes.map(({ name, after }) => [name, after && (parsed(after) ?? after)]);
  const first = Object.values({ ...value, ...Object.fromEntries(changed) }).find((one) =>
    typeof one === "string"
  );
  return (typeof first === "string" ? first : text).slice(0, SUMMARY_CHARS);
}

function prettyJson(text: string): string {
  const value = parsed(text);
  return value === undefined ? text : jsonOf(value);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
