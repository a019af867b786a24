/**
 * One conversation: its transcript as it grows, and the box to write in. The view stays at the end while one reads there, and stays put when one has
 * scrolled up.
 */
import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { runningTurn } from "../../lib/transcript.ts";
import { sourceOf, StatusDot } from "./conversation_row.tsx";
import { Empty, Failure, Skeleton } from "../parts/feedback.tsx";
import { Icon } from "../parts/icons.tsx";
import { Link } from "../parts/link.tsx";
import { mayAct, useApp } from "../parts/use_app.ts";
import { HostileText } from "../render/hostile_text.tsx";
import { compactOf } from "../render/time.ts";
import { strings } from "../strings.ts";
import { WaitingButton } from "./waiting_button.tsx";
import { Composer } from "./composer.tsx";
import { ProfileButton } from "./profile_choice.tsx";
import { TranscriptView } from "./transcript.tsx";

const words = strings.chat;
/** Nearer to the end than this, in pixels, counts as reading there. */
const NEAR_END = 120;

/** An existing conversation. */
export function Chat({ id }: { readonly id: string }) {
  const app = useApp();
  const { chat, conversations } = app;
  useEffect(() => {
    if (conversations.rows.peek().get(id) === undefined) void conversations.fetchOne(id);
  }, [id]);
  const transcript = chat.transcript.value;
  const isEmpty = transcript.entries.length === 0 && transcript.queue.length === 0 &&
    chat.outgoing.value.length === 0;
  return (
    <section class="chat" aria-label={words.log}>
      <ChatHead id={id} />
      <Scroller>
        {!chat.loaded.value && chat.error.value === undefined && chat.outgoing.value.length === 0 && (
          <Skeleton label={words.loading} kind="line" rows={4} />
        )}
        {chat.loaded.value && isEmpty && <p class="hint chat-waking">{words.empty}</p>}
        <TranscriptView transcript={transcript} outgoing={chat.outgoing.value} />
      </Scroller>
      {chat.error.value !== undefined && (
        <Failure
          message={chat.error.value}
          retry={() => void chat.catchUp()}
        />
      )}
      {mayAct(app)
        ? <Composer isRunning={runningTurn(transcript) !== undefined} />
        : <p class="hint chat-read-only">{words.readOnly}</p>}
    </section>
  );
}

/** A conversation that does not exist yet. */
export function NewChat() {
  const { chat } = useApp();
  return (
    <section class="chat" aria-label={words.newTitle}>
      <header class="chat-head">
        <BackLink />
        <h1>{words.newTitle}</h1>
      </header>
      <div class="chat-log chat-new">
        <Empty icon="chats" title={words.newEmpty}>{words.newEmptyBody}</Empty>
      </div>
      {chat.error.value !== undefined && <Failure message={chat.error.value} />}
      <Composer isRunning={false} isFirst />
    </section>
  );
}

function BackLink() {
  return (
    <Link to={{ name: "conversations" }} class="button quiet icon-button chat-back" label={words.back}>
      <Icon name="back" />
    </Link>
  );
}

function ChatHead({ id }: { readonly id: string }) {
  const { chat, conversations } = useApp();
  const row = conversations.rows.value.get(id);
  const transcript = chat.transcript.value;
  const lastTurn = transcript.entries.findLast((entry) => entry.kind === "turn");
  const model = transcript.model ?? row?.model ?? (lastTurn?.kind === "turn" ? lastTurn.model : undefined);
  const usage = transcript.usage;
  return (
    <header class="chat-head">
      <BackLink />
      <div class="chat-title">
        <h1>
          <HostileText text={row?.title ?? transcript.title} line />
        </h1>
        <p class="chat-meta">
          {row && (
            <span>
              <StatusDot status={row.status} /> {row.status === "waiting"
                ? <WaitingButton transcript={transcript} />
                : strings.chats.status[row.status]}
            </span>
          )}
          {row && <span>{sourceOf(row)}</span>}
          {model !== undefined && (
            <span class="chat-model" title={words.model}>
              <HostileText text={model} line />
            </span>
          )}
          {usage && (
            <span class="chat-tokens">{words.tokens(compactOf(usage.inputTokens + usage.outputTokens))}</span>
          )}
        </p>
      </div>
      {row && <ProfileButton row={row} />}
    </header>
  );
}

function Scroller({ children }: { readonly children: ComponentChildren }) {
  const box = useRef<HTMLDivElement>(null);
  const isFollowing = useSignal(true);
  const lastTop = useRef(0);
  const content = useRef<HTMLDivElement>(null);
  const toEnd = () => box.current?.scrollTo({ top: box.current.scrollHeight });
  useLayoutEffect(() => {
    if (!box.current || !content.current) return;
    const observer = new ResizeObserver(() => isFollowing.peek() && toEnd());
    observer.observe(content.current);
    observer.observe(box.current);
    return () => observer.disconnect();
  }, []);
  return (
    <div class="chat-scroll">
      <div
        ref={box}
        class="chat-log"
        role="log"
        aria-label={words.log}
        aria-live="polite"
        tabIndex={0}
        onScroll={({ currentTarget: at }) => {
          // Only a person scrolls up; growing content moves the end away without that.
          if (at.scrollHeight - at.scrollTop - at.clientHeight < NEAR_END) isFollowing.value = true;
          else if (at.scrollTop < lastTop.current) isFollowing.value = false;
          lastTop.current = at.scrollTop;
        }}
      >
        <div ref={content} class="chat-content">{children}</div>
      </div>
      {!isFollowing.value && (
        <button type="button" class="button small jump" onClick={toEnd}>
          <Icon name="down" /> {words.latest}
        </button>
      )}
    </div>
  );
}
