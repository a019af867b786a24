/**
 * What waits for a person, the riskiest first and below it what was put off; what was decided lately beside or below it. An item that a link names stands alone.
 */
import { useComputed } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { Item } from "../../edge/api.ts";
import { onCardKey } from "../parts/card_keys.ts";
import { Empty, Failure, Skeleton } from "../parts/feedback.tsx";
import { endOf, toneOfEnd } from "../parts/item_outcome.tsx";
import { ItemCard } from "../parts/item_card.tsx";
import { Link } from "../parts/link.tsx";
import { ScreenTitle } from "../parts/screen_title.tsx";
import { Age } from "../parts/times.tsx";
import { useApp } from "../parts/use_app.ts";
import { HostileText } from "../render/hostile_text.tsx";
import { isPutOff, settledItems, waitingItems } from "../store/inbox.ts";
import { strings } from "../strings.ts";

const words = strings.inbox;
const RECENT = 12;
const NOTICES_EVERY_MS = 30_000;

/** The screen. */
export function Inbox() {
  const { inbox, now } = useApp();
  const list = useRef<HTMLDivElement>(null);
  // One text rather than a list: the clock moves every second, this only when an item is put off or comes back.
  const putOffText = useComputed(() =>
    [...inbox.items.value.values()].filter((item) => isPutOff(item, now.value)).map(({ id }) => id).join(" ")
  );
  const putOffIds = putOffText.value.split(" ");
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => list.current && onCardKey(event, list.current);
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
  const waiting = waitingItems(items, now.peek(), acted);
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
          {inbox.loaded.value && shown.length === 0 && (
            <Empty icon="check" title={words.empty}>{words.emptyBody}</Empty>
          )}
          <div ref={list}>
            <Cards items={shown} />
            {putOff.length > 0 && (
              <section class="put-off" aria-labelledby="put-off">
                <h2 id="put-off">{words.putOffTitle}</h2>
                <Cards items={putOff} />
              </section>
            )}
          </div>
          {waiting.length > 0 && <p class="hint key-hint">{words.keys}</p>}
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

function Cards({ items }: { readonly items: readonly Item[] }) {
  return (
    <ul class="cards">
      {items.map((item) => (
        <li key={item.id}>
          <ItemCard item={item} />
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

/** The screen of one item. */
export function InboxItem({ id }: { readonly id: string }) {
  const { inbox } = useApp();
  const item = inbox.items.value.get(id);
  const unread = inbox.unread.value.get(id);
  useEffect(() => {
    if (inbox.items.peek().get(id) === undefined) void inbox.fetchItem(id);
  }, [id]);
  return (
    <div class="screen inbox one-item">
      <ScreenTitle title={words.title}>
        <Link to={{ name: "inbox" }} class="button small">{words.all}</Link>
      </ScreenTitle>
      {item && <ItemCard item={item} />}
      {!item && !unread && <Skeleton label={words.loading} kind="card" rows={1} />}
      {!item && unread?.gone === true && <Empty icon="inbox" title={words.gone}>{unread.message}</Empty>}
      {!item && unread?.gone === false && (
        <Failure
          message={unread.message}
          retry={() => void inbox.fetchItem(id)}
        />
      )}
    </div>
  );
}
