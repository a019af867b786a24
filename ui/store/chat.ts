/**
 * One open conversation: its transcript, folded from the event log without gaps, and what the person wrote that is not in the log yet. The log is
 * read behind the last known `seq`, one read at a time, so that notices may come late, twice or out of order. Words that could not be sent go back into the box. Proven by `chat_test.ts`.
 */
import { type ReadonlySignal, signal } from "@preact/signals";
import type { ConversationEvent as WireEvent, Delta } from "../../edge/api.ts";
import type { ConversationEvent } from "../../lib/conversation_event.ts";
import { applyEvent, emptyTranscript, runningTurn } from "../../lib/transcript.ts";
import type { Transcript } from "../../lib/transcript_view.ts";
import { type Api, sentenceOf } from "../api.ts";
import { createLivePieces } from "./live_pieces.ts";

/** The transcript with the events that follow it; what is known or not next in line is left out. */
export function withEvents(transcript: Transcript, page: readonly WireEvent[]): Transcript {
  return [...page].sort((a, b) => a.seq - b.seq).reduce((view, event) => {
    // The actor wrote the log by this very type; the reader leaves out what it does not know.
    return event.seq === view.seq + 1 ? applyEvent(view, event as ConversationEvent) : view;
  }, transcript);
}

/** Words on their way. `failed`: the box has them back. */
export interface Outgoing {
  readonly clientId: string;
  readonly text: string;
  /** The message's id once the server has committed it; the log shows it under the same id. */
  readonly messageId?: string;
  /** The conversation that the server began with it. */
  readonly conversation?: string;
}

/** The open conversation. */
export interface ChatStore {
  /** Undefined: none is open. */
  readonly id: ReadonlySignal<string | undefined>;
  readonly transcript: ReadonlySignal<Transcript>;
  readonly outgoing: ReadonlySignal<readonly Outgoing[]>;
  readonly draft: ReadonlySignal<string>;
  readonly loaded: ReadonlySignal<boolean>;
  readonly error: ReadonlySignal<string | undefined>;
  readonly stopping: ReadonlySignal<boolean>;
  open(id: string | undefined): Promise<void>;
  /** The log of a conversation reaches `seq` now. */
  reaches(conversation: string, seq: number): void;
  receive(conversation: string, delta: Delta): void;
  /** Reads on, whatever is known: after a reset. */
  catchUp(): Promise<void>;
  write(text: string): void;
  /** Sends the draft; resolves to the conversation's id, undefined when it did not go. */
  submit(): Promise<string | undefined>;
  stop(): Promise<void>;
  clear(): void;
}

/** What the chat needs besides the API. */
export interface ChatOptions {
  readonly newId: () => string;
}

/** Builds the store. */
export function createChat(api: Api, { newId }: ChatOptions): ChatStore {
  const id = signal<string | undefined>(undefined);
  const transcript = signal(emptyTranscript);
  const outgoing = signal<readonly Outgoing[]>([]);
  const draft = signal("");
  const loaded = signal(false);
  const error = signal<string | undefined>(undefined);
  const stopping = signal(false);
  const drafts = new Map<string, string>();
  let wanted = 0;
  const inLog = new Set<unknown>();
  const pieces = createLivePieces();
  let reading: Promise<void> | undefined;

  const last = () => transcript.peek().seq;

  /** Reads page after page until the log reaches what was announced. Resolves to what had been announced by then. */
  async function read(conversation: string): Promise<number> {
    try {
      let more = true;
      while (more) {
        const before = last();
        const page = await api.events(conversation, before);
        if (id.peek() !== conversation) return wanted;
        append(page.events);
        more = last() > before && (page.next !== undefined || last() < wanted);
      }
      loaded.value = true;
      error.value = undefined;
    } catch (failure) {
      if (id.peek() === conversation) error.value = sentenceOf(failure);
    }
    return wanted;
  }

  async function catchUp(): Promise<void> {
    const conversation = id.peek();
    if (conversation === undefined) return;
    if (reading) return reading;
    const { promise, resolve } = Promise.withResolvers<void>();
    reading = promise;
    const known = await read(conversation);
    reading = undefined;
    resolve();
    if (id.peek() !== conversation || wanted > known) await catchUp();
  }

  function append(events: readonly WireEvent[]): void {
    const after = withEvents(transcript.peek(), events);
    transcript.value = pieces.settle(after, events);
    if (runningTurn(after) === undefined) stopping.value = false;
    const arrived = new Set(events.filter((event) => event.type === "input_queued").map(idOf));
    outgoing.value = outgoing.peek().filter((one) =>
      one.messageId === undefined || !arrived.has(one.messageId)
    );
    for (const id of arrived) inLog.add(id);
  }

  function write(text: string): void {
    draft.value = text;
    drafts.set(id.peek() ?? "", text);
  }

  function forget(): void {
    transcript.value = emptyTranscript;
    inLog.clear();
    pieces.clear();
    outgoing.value = [];
    loaded.value = false;
    error.value = undefined;
    stopping.value = false;
    wanted = 0;
  }

  return {
    id,
    transcript,
    outgoing,
    draft,
    loaded,
    error,
    stopping,
    async open(next) {
      if (next === id.peek()) return catchUp();
      const begun = outgoing.peek().filter((one) => one.conversation === next && next !== undefined);
      forget();
      outgoing.value = begun;
      id.value = next;
      draft.value = drafts.get(next ?? "") ?? "";
      if (next !== undefined) await catchUp();
    },
    reaches(conversation, seq) {
      if (conversation !== id.peek()) return;
      wanted = Math.max(wanted, seq);
      if (last() < seq) void catchUp();
    },
    receive(conversation, delta) {
      if (conversation !== id.peek()) return;
      transcript.value = pieces.place(transcript.peek(), delta);
    },
    catchUp,
    write,
    async submit() {
      const conversation = id.peek();
      const text = draft.peek();
      if (text.trim() === "") return undefined;
      const clientId = newId();
      outgoing.value = [...outgoing.peek(), { clientId, text }];
      write("");
      try {
        const accepted = conversation === undefined
          ? await api.begin(text)
          : await api.send(conversation, { text, clientId });
        error.value = undefined;
        const isThere = inLog.has(accepted.id);
        outgoing.value = outgoing.peek().flatMap((one) =>
          one.clientId !== clientId
            ? [one]
            : isThere
            ? []
            : [{ ...one, messageId: accepted.id, conversation: accepted.conversation }]
        );
        return accepted.conversation;
      } catch (failure) {
        outgoing.value = outgoing.peek().filter((one) => one.clientId !== clientId);
        if (id.peek() === conversation && draft.peek() === "") write(text);
        else drafts.set(conversation ?? "", text);
        error.value = sentenceOf(failure);
        return undefined;
      }
    },
    async stop() {
      const conversation = id.peek();
      if (conversation === undefined) return;
      stopping.value = true;
      try {
        await api.stop(conversation);
      } catch (failure) {
        stopping.value = false;
        error.value = sentenceOf(failure);
      }
    },
    clear() {
      id.value = undefined;
      draft.value = "";
      drafts.clear();
      forget();
    },
  };
}

/** The id in an event's payload. */
function idOf({ payload }: WireEvent): unknown {
  return typeof payload === "object" && payload !== null ? Reflect.get(payload, "id") : undefined;
}
