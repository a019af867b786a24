/**
 * One entry of the decisions log: the line to read, and behind it everything that its hash covers. The owner may take back a change of policy.
 */
import type { ShownEntry } from "../../edge/api.ts";
import { printableLine } from "../../lib/printable.ts";
import { ChangeNote, useIsBusy } from "../parts/change_note.tsx";
import { ConfirmButton } from "../parts/confirm_button.tsx";
import { Digest, jsonOf } from "../parts/item/item_facts.tsx";
import { Link } from "../parts/link.tsx";
import { FoldedText } from "../parts/item/preview.tsx";
import { useApp } from "../parts/use_app.ts";
import { HostileText } from "../render/hostile_text.tsx";
import { momentOf } from "../render/time.ts";
import { strings } from "../strings.ts";
import { policyStrings } from "../strings/policy.ts";

const words = policyStrings.audit;
const surfaces: Readonly<Record<string, string>> = words.surfaces;
const kinds: Readonly<Record<string, string>> = words.kinds;
const decisions: Readonly<Record<string, unknown>> = { ...strings.decisions, ...words.changes };

/** The row. */
export function AuditRow({ entry }: { readonly entry: ShownEntry }) {
  return (
    <li class="audit-entry">
      <details>
        <summary>
          <span class="audit-seq">{entry.seq}</span>
          <span class="audit-line">
            <span class="audit-what">
              <strong>{decisionOf(entry)}</strong>{" "}
              <span class="tag">{kinds[entry.kind] ?? printableLine(entry.kind)}</span>
            </span>
            <Subject entry={entry} />
            <span class="audit-who">
              {whoOf(entry)}
              {entry.actor !== "system" && (
                <>{" "}· {surfaces[entry.surface] ?? printableLine(entry.surface)}</>
              )}
              {entry.device !== undefined && (
                <>
                  {" "}· <Device id={entry.device} />
                </>
              )}
            </span>
          </span>
          <span class="audit-when">
            <time dateTime={new Date(entry.at).toISOString()}>{momentOf(entry.at)}</time>
            {entry.digest !== undefined && <Digest digest={entry.digest} />}
          </span>
        </summary>
        <div class="audit-body">
          <p class="audit-links">
            {entry.conversation !== undefined && (
              <Link to={{ name: "chat", id: entry.conversation }}>
                {entry.shown?.title === undefined
                  ? words.chat
                  : <HostileText text={entry.shown.title} line />}
              </Link>
            )}
            {entry.itemId !== undefined && (
              <Link to={{ name: "inbox", item: entry.itemId }}>{words.item}</Link>
            )}
          </p>
          <FoldedText text={jsonOf(entry.body)} />
          <p class="hint">
            {words.hash}{" "}
            <code class="word">
              <HostileText text={entry.hash} line />
            </code>
          </p>
          {mayRevert(entry) && <Revert entry={entry} />}
        </div>
      </details>
    </li>
  );
}

/** What was decided: the call, or the question, and in which chat. */
function Subject({ entry: { shown, body } }: { readonly entry: ShownEntry }) {
  const tool = shown?.tool ?? textOf(body, "tool");
  const { summary, title } = shown ?? {};
  if (tool === undefined && summary === undefined && title === undefined) return null;
  return (
    <span class="audit-subject">
      {tool !== undefined && (
        <code>
          <HostileText text={tool} line />
        </code>
      )}
      {summary !== undefined && (
        <span>
          <HostileText text={summary} line />
        </span>
      )}
      {title !== undefined && (
        <span class="faint">
          {words.inChat} <HostileText text={title} line />
        </span>
      )}
    </span>
  );
}

function Revert({ entry }: { readonly entry: ShownEntry }) {
  const { policy, audit } = useApp();
  const key = `revert/${entry.seq}`;
  const isBusy = useIsBusy(key);
  return (
    <>
      <ConfirmButton
        label={words.revert}
        name={words.revertLabel(entry.seq)}
        confirm={words.revertConfirm}
        class="button small"
        disabled={isBusy}
        onConfirm={() =>
          void policy.changes.run(key, () => policy.commands.revert(entry.seq)).then((isDone) =>
            isDone ? audit.load() : undefined
          )}
      />
      <ChangeNote of={key} />
    </>
  );
}

/** The device by its name when it is one of the person's own, else by the end of its id. */
function Device({ id }: { readonly id: string }) {
  const { session } = useApp();
  const own = session.devices.value?.find((device) => device.id === id)?.name;
  return <span title={printableLine(id)}>{printableLine(own ?? words.deviceEnd(id.slice(-6)))}</span>;
}

/** Changes of policy that have an opposite; whether the entry was overtaken the server says. */
const revertible = new Set([
  "rule.create",
  "rule.update",
  "rule.order",
  "rule.delete",
  "rule.restore",
  "group.create",
  "group.update",
  "group.delete",
  "group.restore",
  "profile.create",
  "profile.update",
  "profile.group",
  "profile.delete",
  "profile.restore",
  "conversation.profile",
  "gate.settings",
]);

function mayRevert({ kind, decision }: ShownEntry): boolean {
  return kind === "policy" && revertible.has(decision);
}

/** The actor by name: as it was when it acted, else as it is today; else the identity. */
function whoOf({ actor, body, shown }: ShownEntry): string {
  if (actor === "system") return words.system;
  return printableLine(textOf(body, "name") ?? textOf(body, "by") ?? shown?.who ?? actor);
}

/** A text that the entry's body holds under a name. */
function textOf(body: unknown, name: string): string | undefined {
  const value: unknown = typeof body === "object" && body !== null ? Reflect.get(body, name) : undefined;
  return typeof value === "string" && value !== "" ? value : undefined;
}

function decisionOf(entry: ShownEntry): string {
  const known = decisions[entry.decision];
  return typeof known === "string" ? known : printableLine(entry.decision);
}
