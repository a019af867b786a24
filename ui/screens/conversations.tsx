/**
 * Chats: the list, and beside it on a wide screen the one that is open. On a phone each is a screen.
 */
import type { ComponentChildren } from "preact";
import { Chat, NewChat } from "../chat/chat.tsx";
import { ConversationRow } from "../chat/conversation_row.tsx";
import { Empty, Failure, Skeleton } from "../parts/feedback.tsx";
import { Icon } from "../parts/icons.tsx";
import { Link } from "../parts/link.tsx";
import { ScreenTitle } from "../parts/screen_title.tsx";
import { isOwner, useApp } from "../parts/use_app.ts";
import { listed } from "../store/conversations.ts";
import { strings } from "../strings.ts";

const words = strings.chats;

/** The screen: `open` is the conversation, `"new"` the empty one, undefined only the list. */
export function Conversations({ open }: { readonly open?: string | undefined }) {
  return (
    <div class="split" data-open={open !== undefined}>
      <div class="split-list">
        <ConversationList open={open} />
      </div>
      <div class="split-detail">
        {open === undefined ? <Nothing /> : open === "new" ? <NewChat /> : <Chat key={open} id={open} />}
      </div>
    </div>
  );
}

function Nothing() {
  return <Empty icon="chats" title={strings.chat.newEmpty}>{strings.chat.newEmptyBody}</Empty>;
}

function ConversationList({ open }: { readonly open: string | undefined }) {
  const app = useApp();
  const { conversations } = app;
  const rows = listed(conversations.rows.value, conversations.search.value);
  return (
    <section class="conversation-list" aria-label={words.title}>
      <ScreenTitle title={words.title}>
        {isOwner(app) && <NewChatLink />}
      </ScreenTitle>
      <input
        type="search"
        class="search"
        aria-label={words.search}
        placeholder={words.search}
        value={conversations.search.value}
        onInput={(event) => conversations.setSearch(event.currentTarget.value)}
      />
      {conversations.error.value !== undefined && (
        <Failure
          message={conversations.error.value}
          retry={() => void conversations.load()}
        />
      )}
      {!conversations.loaded.value && conversations.error.value === undefined && (
        <Skeleton label={words.loading} kind="row" rows={5} />
      )}
      {conversations.isSearching.value && rows.length === 0 && (
        <Skeleton label={words.searching} kind="row" rows={2} />
      )}
      {conversations.loaded.value && !conversations.isSearching.value && rows.length === 0 && (
        <NoRows isSearch={conversations.search.value.trim() !== ""} />
      )}
      <ul class="rows">
        {rows.map((row) => (
          <li key={row.id}>
            <ConversationRow row={row} current={row.id === open} />
          </li>
        ))}
      </ul>
      {conversations.hasMore.value && (
        <button
          type="button"
          class="button quiet"
          onClick={() => void conversations.more()}
        >
          {words.more}
        </button>
      )}
    </section>
  );
}

function NewChatLink() {
  return (
    <Link to={{ name: "new_chat" }} class="button primary small">
      <Icon name="plus" /> {words.create}
    </Link>
  );
}

function NoRows({ isSearch }: { readonly isSearch: boolean }): ComponentChildren {
  return isSearch
    ? <Empty icon="chats" title={words.noMatch}>{words.noMatchBody}</Empty>
    : <Empty icon="chats" title={words.empty}>{words.emptyBody}</Empty>;
}
