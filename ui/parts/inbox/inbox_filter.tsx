/**
 * Search and filters over the waiting items.
 */
import type { Signal } from "@preact/signals";
import type { Item } from "../../../edge/api.ts";
import { printableLine } from "../../../lib/printable.ts";
import { conversationsOf, type InboxFilter } from "../../store/inbox_filter.ts";
import { strings } from "../../strings.ts";

const words = strings.inbox;
const kinds = ["approval", "question", "elicitation", "restart"] as const;
const risks = ["high", "medium", "low"] as const;

interface InboxFilterBarProps {
  readonly filter: Signal<InboxFilter>;
  /** What may be filtered. */
  readonly items: readonly Item[];
}

/** The search field and three choices. */
export function InboxFilterBar({ filter, items }: InboxFilterBarProps) {
  const set = (more: Partial<InboxFilter>) => {
    filter.value = { ...filter.value, ...more };
  };
  const { search, kind, risk, conversation } = filter.value;
  const conversations = conversationsOf(items);
  return (
    <div class="inbox-filter" role="search" aria-label={words.filter.label}>
      <input
        type="search"
        aria-label={words.filter.search}
        placeholder={words.filter.search}
        value={search}
        onInput={(event) => set({ search: event.currentTarget.value })}
      />
      <div class="inbox-filter-choices">
        <select
          aria-label={words.filter.kind}
          value={kind}
          onChange={(event) =>
            set({ kind: kinds.find((known) => known === event.currentTarget.value) ?? "" })}
        >
          <option value="">{words.filter.anyKind}</option>
          {kinds.map((known) => <option key={known} value={known}>{words.kinds[known]}</option>)}
        </select>
        <select
          aria-label={words.filter.risk}
          value={risk}
          onChange={(event) =>
            set({ risk: risks.find((known) => known === event.currentTarget.value) ?? "" })}
        >
          <option value="">{words.filter.anyRisk}</option>
          {risks.map((known) => <option key={known} value={known}>{words.risk[known]}</option>)}
        </select>
        <select
          aria-label={words.filter.conversation}
          value={conversation}
          onChange={(event) => set({ conversation: event.currentTarget.value })}
        >
          <option value="">{words.filter.anyConversation}</option>
          {conversations.map(({ id, title }) => <option key={id} value={id}>{printableLine(title)}</option>)}
        </select>
      </div>
    </div>
  );
}
