/**
 * What waits for a person, the riskiest first and below it what was put off; what was decided lately beside or below it. An item that a link names stands alone.
 */
import { type Signal, useComputed, useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { Item } from "../../edge/api.ts";
import { BulkReject } from "../parts/inbox/bulk_reject.tsx";
import { onCardKey } from "../parts/inbox/card_keys.ts";
import { Empty, Failure, Skeleton } from "../parts/feedback.tsx";
import { InboxFilterBar } from "../parts/inbox/inbox_filter.tsx";
import { endOf, toneOfEnd } from "../parts/item/item_outcome.tsx";
import { ItemCard } from "../parts/item/item_card.tsx";
import { KeyHelp } from "../parts/inbox/key_help.tsx";
import { Link } from "../parts/link.tsx";
import { ScreenTitle } from "../parts/screen_title.tsx";
import { Age } from "../parts/times.tsx";
import { mayAct, useApp } from "../parts/use_app.ts";
import { HostileText } from "../render/hostile_text.tsx";
import { isPutOff, settledItems, waitingItems } from "../store/inbox.ts";
import { canRejectMany, isFiltering, isShown, noFilter } from "../store/inbox_filter.ts";
import { strings } from "../strings.ts";

const words = strings.inbox;
const RECENT = 12;
/** With fewer, searching takes longer than looking. */
const FILTER_FROM = 4;
const NOTICES_EVERY_MS = 30_000;

/** The screen. */
export function Inbox() {
  const { inbox, now, router } = useApp();
  const filter = useSignal(noFilter);
  const selected = useSignal<ReadonlySet<string>>(new Set());
  const isHelping = useSignal(false);
  const list = useRef<HTMLDivElement>(null);
  // One text rather than a list: the clock moves every second, this only when an item is put off or comes back.
  const putOffText = useComputed(() =>
    [...inbox.items.value.values()].filter((item) => isPutOff(item, now.value)).map(({ id }) => id).join(" ")
  );
  const putOffIds = putOffText.value.split(" ");
  useEffect(() => {
    const actions = {
      open: (item: string) => router.go({ name: "inbox", item }),
      help: () => void (isHelping.value = true),
    };
    const onKey = (event: KeyboardEvent) => list.current && onCardKey(event, list.current, actions);
    addEventListener("keydown", onKey);
    const notices = setInterval(() => void inbox.readNotices(), NOTICES_EVERY_MS);
    return () => {
      clearInterval(notices);
      removeEventListener("keydown", onKey);
      inbox.leave();
    };
  }, []);
  const acted = inbox.acted.value;
  const items = [...inbox.items.value.values()];
  const all = waitingItems(items, now.peek(), acted);
  const isNarrowed = isFiltering(filter.value);
  const waiting = all.filter((item) => isShown(item, filter.value));
  const shown = waiting.filter(({ id }) => !putOffIds.includes(id));
  const putOff = waiting.filter(({ id }) => putOffIds.includes(id));
  const recent = settledItems(items.filter((item) => !acted.has(item.id)), RECENT);
  const count = inbox.badge.value;
  return (
    <div class="screen inbox">
      <ScreenTitle
        title={words.title}
        note={inbox.loaded.value && count > 0 ? words.waiting(count) : undefined}
      />
      {inbox.error.value !== undefined && (
        <Failure
          message={inbox.error.value}
          retry={() => void inbox.load()}
        />
      )}
      {inbox.notices.value.map((notice) => <Failure key={notice} message={notice} />)}
      <div class="inbox-columns">
        <section aria-label={words.states.waiting}>
          {!inbox.loaded.value && inbox.error.value === undefined && (
            <Skeleton label={words.loading} kind="card" rows={2} />
          )}
          {(isNarrowed || all.length >= FILTER_FROM) && <InboxFilterBar filter={filter} items={all} />}
          {inbox.loaded.value && shown.length === 0 && (isNarrowed
            ? <Empty icon="inbox" title={words.noMatch}>{words.noMatchBody}</Empty>
            : <Empty icon="check" title={words.empty}>{words.emptyBody}</Empty>)}
          <div ref={list}>
            <Cards items={shown} selected={selected} />
            {putOff.length > 0 && (
              <section class="put-off" aria-labelledby="put-off">
                <h2 id="put-off">{words.putOffTitle}</h2>
                <Cards items={putOff} selected={selected} />
              </section>
            )}
          </div>
          <BulkReject selected={selected} shown={waiting} />
          {waiting.length > 0 && (
            <button
              type="button"
              class="button quiet small key-hint"
              onClick={() => isHelping.value = true}
            >
              {words.keys}
            </button>
          )}
          {isHelping.value && <KeyHelp close={() => isHelping.value = false} />}
        </section>
        {recent.length > 0 && (
          <section class="recent" aria-labelledby="recent">
            <h2 id="recent">{words.recent}</h2>
            <ul>{recent.map((item) => <Settled key={item.id} item={item} />)}</ul>
          </section>
        )}
      </div>
    </div>
  );
}

interface CardsProps {
  readonly items: readonly Item[];
  readonly selected: Signal<ReadonlySet<string>>;
}

function Cards({ items, selected }: CardsProps) {
  const app = useApp();
  const toggle = (id: string) => {
    const next = new Set(selected.value);
    if (!next.delete(id)) next.add(id);
    selected.value = next;
  };
  return (
    <ul class="cards">
      {items.map((item) => (
        <li key={item.id}>
          <ItemCard
            item={item}
            choice={items.length > 1 && mayAct(app) && canRejectMany(item)
              ? { isChosen: selected.value.has(item.id), toggle: () => toggle(item.id) }
              : undefined}
          />
        </li>
      ))}
    </ul>
  );
}

/** One line of the settled list. */
function Settled({ item }: { readonly item: Item }) {
  const { now } = useApp();
  const { decision } = item;
  return (
    <li>
      <Link to={{ name: "inbox", item: item.id }} class="settled">
        <span class="settled-what">
          {item.tool === undefined ? words.kinds[item.kind] : (
            <code>
              <HostileText text={item.tool} line />
            </code>
          )}
          <span class={`tag state-${toneOfEnd(item)}`}>{endOf(item, now)}</span>
        </span>
        <span class="settled-how">
          {decision &&
            `${strings.decisions[decision.decision]} ${
              strings.decisions.by(decision.by, decision.surface)
            } · `}
          <Age at={item.updatedAt} />
        </span>
      </Link>
    </li>
  );
}
