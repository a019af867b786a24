/**
 * One conversation in the list: how it stands, where it comes from, its last words.
 */
import type { ConversationSummary } from "../../edge/api.ts";
import { HostileText } from "../render/hostile_text.tsx";
import { strings } from "../strings.ts";
import { Link } from "../parts/link.tsx";
import { Age } from "../parts/times.tsx";

const words = strings.chats;

/** The row. */
export function ConversationRow(
  { row, current }: { readonly row: ConversationSummary; readonly current: boolean },
) {
  return (
    <Link to={{ name: "chat", id: row.id }} class="row" current={current}>
      <StatusDot status={row.status} />
      <span class="row-body">
        <span class="row-head">
          <span class="row-title">
            <HostileText text={row.title} line />
          </span>
          <span class="row-age">
            <Age at={row.updatedAt} />
          </span>
        </span>
        <span class="row-preview">
          {row.preview === undefined ? words.status[row.status] : <HostileText text={row.preview} line />}
        </span>
        <span class="row-meta">
          <span class="source">{sourceOf(row)}</span>
          {row.waiting > 0 && <span class="tag tag-waiting">{words.waiting(row.waiting)}</span>}
        </span>
      </span>
    </Link>
  );
}

/** How a conversation stands, as a dot with a name. */
export function StatusDot({ status }: { readonly status: ConversationSummary["status"] }) {
  return (
    <span class={`dot status-${status}`}>
      <span class="visually-hidden">{words.status[status]}</span>
    </span>
  );
}

/** Where a conversation takes place. */
export function sourceOf(row: ConversationSummary): string {
  const sources: Readonly<Record<string, string>> = words.sources;
  const source = sources[row.source] ?? row.source;
  return row.channel === undefined ? source : `${source} · #${row.channel}`;
}
