/**
 * A transcript: turns with what people wrote, what the agent thought, said and called, and notes between them. Draws what `lib/transcript.ts` folded and
 * decides nothing. Proven by `chat_test.tsx`.
 */
import type { EventInput } from "../../lib/conversation_event.ts";
import type {
  NoteItem,
  TextItem,
  Transcript,
  TranscriptItem,
  TurnView,
  UserItem,
} from "../../lib/transcript_view.ts";
import { HostileText } from "../render/hostile_text.tsx";
import { Markdown } from "../render/markdown.tsx";
import { clockOf, momentOf } from "../render/time.ts";
import type { Outgoing } from "../store/chat.ts";
import { strings } from "../strings.ts";
import { CallView } from "./call.tsx";

const words = strings.chat;

interface TranscriptViewProps {
  readonly transcript: Transcript;
  /** Words that are not in the log yet. */
  readonly outgoing: readonly Outgoing[];
}

/** The whole transcript. */
export function TranscriptView({ transcript, outgoing }: TranscriptViewProps) {
  return (
    <>
      {transcript.entries.map((entry) =>
        entry.kind === "turn" ? <Turn key={entry.id} turn={entry} /> : <Note key={entry.id} note={entry} />
      )}
      {transcript.queue.map((input) => <Queued key={input.id} input={input} />)}
      {outgoing.map((one) => (
        <Bubble
          key={one.clientId}
          author={words.you}
          text={one.text}
          state={one.messageId === undefined ? words.sending : words.sent}
          isOwn
        />
      ))}
    </>
  );
}

function Turn({ turn }: { readonly turn: TurnView }) {
  const hasOpen = turn.items.some((item) =>
    item.kind === "call" ? item.state !== "ended" : "open" in item && item.open
  );
  return (
    <div class="turn" data-state={turn.state}>
      {turn.items.map((item) => <TurnItem key={item.id} item={item} />)}
      {turn.state === "running" && !hasOpen && <p class="thinking" role="status">{words.thinking}</p>}
      {turn.silent && <p class="note">{words.silent}</p>}
      {turn.abortReason !== undefined && <p class="note note-warning">{words.aborted[turn.abortReason]}</p>}
    </div>
  );
}

function TurnItem({ item }: { readonly item: TranscriptItem }) {
  switch (item.kind) {
    case "user":
      return <Said item={item} />;
    case "assistant":
      return <Answer item={item} />;
    case "reasoning":
      return <Reasoning item={item} />;
    case "call":
      return <CallView call={item} />;
    case "note":
      return <Note note={item} />;
    default:
      return item satisfies never;
  }
}

function Said({ item }: { readonly item: UserItem }) {
  return (
    <Bubble
      author={item.author.name}
      text={item.text}
      at={item.at}
      state={item.steered ? words.steered : undefined}
      isOwn={item.author.kind === "web"}
    />
  );
}

function Queued({ input }: { readonly input: EventInput }) {
  return (
    <Bubble
      author={input.author.name}
      text={input.text}
      state={words.sent}
      isOwn={input.author.kind === "web"}
    />
  );
}

interface BubbleProps {
  readonly author: string;
  readonly text: string;
  readonly at?: number;
  readonly state?: string | undefined;
  readonly isOwn: boolean;
}

function Bubble({ author, text, at, state, isOwn }: BubbleProps) {
  return (
    <div class="said" data-own={isOwn}>
      <p class="said-head">
        <span class="said-author">
          <HostileText text={author} line />
        </span>
        {at !== undefined && (
          <time dateTime={new Date(at).toISOString()} title={momentOf(at)}>{clockOf(at)}</time>
        )}
        {state !== undefined && <span>{state}</span>}
      </p>
      <p class="said-text">
        <HostileText text={text} />
      </p>
    </div>
  );
}

function Answer({ item }: { readonly item: TextItem }) {
  return (
    <div class="answer" data-open={item.open}>
      <Markdown text={item.text} />
    </div>
  );
}

function Reasoning({ item }: { readonly item: TextItem }) {
  if (item.text.trim() === "") return null;
  return (
    <details class="reasoning" data-open={item.open}>
      <summary>{item.open ? words.thinking : words.reasoning}</summary>
      <Markdown text={item.text} />
    </details>
  );
}

function Note({ note }: { readonly note: NoteItem }) {
  return (
    <p class={`note note-${note.level}`}>
      {note.code === "model_set"
        ? words.modelSet(note.text)
        : note.code === "session_reset"
        ? words.reset
        : <HostileText text={note.text} />}
    </p>
  );
}
