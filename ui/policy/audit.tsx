/**
 * The decisions log: who decided what, when, where and on which digest; whether its chain holds; and all of it as a file.
 */
import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { ShownEntry } from "../../edge/api.ts";
import { Empty, Failure, Skeleton } from "../parts/feedback.tsx";
import { Icon } from "../parts/icons.tsx";
import { useApp } from "../parts/use_app.ts";
import { filterAudit } from "../store/audit.ts";
import { policyStrings } from "../strings/policy.ts";
import { AuditRow } from "./audit_row.tsx";
import { PolicyHead } from "./policy.tsx";

const words = policyStrings.audit;
const PAGE = 50;

/** The screen. */
export function Audit() {
  const { audit, session } = useApp();
  const search = useSignal("");
  const surface = useSignal("");
  useEffect(() => void Promise.all([audit.load(), session.loadDevices()]), []);
  const all = audit.entries.value;
  const found = filterAudit(all, { search: search.value, surface: surface.value });
  return (
    <div class="screen policy">
      <PolicyHead
        title={policyStrings.pages.audit.title}
        note={audit.loaded.value && all.length > 0
          ? words.shown(found.length, all.length, audit.hasOlder.value)
          : undefined}
      >
        <span class="head-buttons">
          <button
            type="button"
            class="button primary small"
            aria-disabled={audit.verdict.value === "checking"}
            onClick={() => void audit.verify()}
          >
            {words.verify}
          </button>
          <a class="button small" href="/api/audit/export" download="decisions.jsonl">
            {words.export}
          </a>
        </span>
      </PolicyHead>
      <Verdict />
      {audit.error.value !== undefined && (
        <Failure
          message={audit.error.value}
          retry={() => void audit.load()}
        />
      )}
      <div class="filter">
        <input
          type="search"
          aria-label={words.search}
          placeholder={words.search}
          value={search.value}
          onInput={(event) => search.value = event.currentTarget.value}
        />
        <select
          aria-label={words.surface}
          value={surface.value}
          onChange={(event) => surface.value = event.currentTarget.value}
        >
          {Object.entries(words.surfaces).map(([value, name]) => (
            <option key={value} value={value}>{name}</option>
          ))}
        </select>
      </div>
      {!audit.loaded.value && audit.error.value === undefined && (
        <Skeleton label={policyStrings.loading} kind="row" rows={6} />
      )}
      {audit.loaded.value && (
        <Entries key={`${surface.value} ${search.value}`} entries={found} isEmpty={all.length === 0} />
      )}
    </div>
  );
}

function Entries(
  { entries, isEmpty }: { readonly entries: readonly ShownEntry[]; readonly isEmpty: boolean },
) {
  const limit = useSignal(PAGE);
  const list = useRef<HTMLOListElement>(null);
  const { audit } = useApp();
  if (isEmpty) return <Empty icon="audit" title={words.none}>{words.noneBody}</Empty>;
  const isAllShown = entries.length <= limit.value;
  const older = async () => {
    const last = list.current?.lastElementChild;
    if (isAllShown) await audit.loadOlder();
    limit.value += PAGE;
    // The button may be gone: who reads by keyboard goes on at what was added.
    requestAnimationFrame(() => last?.nextElementSibling?.querySelector("summary")?.focus());
  };
  return (
    <>
      {entries.length === 0 && (
        <Empty icon="audit" title={words.noMatch}>{words.noMatchBody(audit.hasOlder.value)}</Empty>
      )}
      <ol class="audit" ref={list}>
        {entries.slice(0, limit.value).map((entry) => <AuditRow key={entry.seq} entry={entry} />)}
      </ol>
      {(!isAllShown || audit.hasOlder.value) && (
        <button
          type="button"
          class="button quiet"
          aria-disabled={audit.isReading.value}
          onClick={() => void older()}
        >
          {audit.isReading.value ? words.reading : words.older}
        </button>
      )}
    </>
  );
}

/** What the server found when it recomputed the chain. */
function Verdict() {
  const verdict = useApp().audit.verdict.value;
  return (
    <div role="status" class="chain">
      {verdict === "checking" && <p class="outcome-line">{words.verifying}</p>}
      {typeof verdict === "object" && (
        <p class={verdict.ok ? "outcome-line state-applied" : "outcome-line state-failed"}>
          <Icon name={verdict.ok ? "check" : "alert"} />
          <span>{verdict.ok ? words.sound(verdict.entries) : words.broken(verdict.brokenAt ?? 0)}</span>
        </p>
      )}
    </div>
  );
}
