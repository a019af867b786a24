/**
 * One item alone, as a link names it.
 */
import { useEffect } from "preact/hooks";
import { Empty, Failure, Skeleton } from "../parts/feedback.tsx";
import { ItemCard } from "../parts/item/item_card.tsx";
import { Link } from "../parts/link.tsx";
import { ScreenTitle } from "../parts/screen_title.tsx";
import { useApp } from "../parts/use_app.ts";
import { strings } from "../strings.ts";

const words = strings.inbox;

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
