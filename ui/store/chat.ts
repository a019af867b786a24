/**
 * One open conversation: its event log without gaps, the pieces that are still growing, and what the person wrote that is not in the log yet. The
 * log is read behind the last known `seq`, one read at a time, so that notices may come late, twice or out of order. Words that could not be sent
 * stay in the box. Proven by `store_test.ts`.
 */
import { type ReadonlySignal, signal } from "@preact/signals";
import type { ConversationEvent, Delta } from "../../edge/api.ts";
import { type Api, sentenceOf } from "../api.ts";
import { fieldOf, type GrowingPieces, placeDelta, withoutCommitted } from "./growing.ts";

/** The log with the events that follow it; what is known or not next in line is left out. */
export function appendEvents(
  log: readonly ConversationEvent[],
  page: readonly ConversationEvent[],
): readonly ConversationEvent[] {
  const next = [...log];
  for (const event of [...page].sort((a, b) => a.seq - b.seq)) {
    if (event.seq === (next.at(-1)?.seq ?? 0) + 1) next.push(event);
  }
  return next.length === log.length ? log : next;
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
  readonly log: ReadonlySignal<readonly ConversationEvent[]>;
  readonly growing: ReadonlySignal<GrowingPieces>;
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
  const log = signal<readonly ConversationEvent[]>([]);
  const growing = signal<GrowingPieces>(new Map());
  const outgoing = signal<readonly Outgoing[]>([]);
  const draft = signal("");
  const loaded = signal(false);
  const error = signal<string | undefined>(undefined);
  const stopping = signal(false);
  const drafts = new Map<string, string>();
  let wanted = 0;
  let reading: Promise<void> | undefined;

  const last = () => log.peek().at(-1)?.seq ?? 0;

  /** Reads page after page until the log reaches what was announced. */
  async function read(conversation: string): Promise<void> {
    try {
      let more = true;
      while (more && id.peek() === conversation) {
        const before = last();
        const page = await api.events(conversation, before);
        if (id.peek() !== conversation) return;
        log.value = appendEvents(log.peek(), page.events);
        settle(page.events);
        more = page.next !== undefined || (last() < wanted && last() > before);
      }
      loaded.value = true;
      error.value = undefined;
    } catch (failure) {
      if (id.peek() === conversation) error.value = sentenceOf(failure);
    }
  }

  function catchUp(): Promise<void> {
    const conversation = id.peek();
    if (conversation === undefined) return Promise.resolve();
    reading ??= read(conversation).finally(() => {
      reading = undefined;
      if (id.peek() !== undefined && id.peek() !== conversation) void catchUp();
    });
    return reading;
  }

  /** What the log has now is neither growing nor on its way any more. */
  function settle(events: readonly ConversationEvent[]): void {
    growing.value = events.reduce(withoutCommitted, growing.peek());
    if (events.some((event) => event.type === "task_complete" || event.type === "turn_aborted")) stopping.value = false;
    const arrived = new Set(events.filter(isInput).map((event) => fieldOf(event, "id")));
    outgoing.value = outgoing.peek().filter((one) => one.messageId === undefined || !arrived.has(one.messageId));
  }

  function write(text: string): void {
    draft.value = text;
    drafts.set(id.peek() ?? "", text);
  }

  function forget(): void {
    log.value = [];
    growing.value = new Map();
    outgoing.value = [];
    loaded.value = false;
    error.value = undefined;
    stopping.value = false;
    wanted = 0;
  }

  return {
    id,
    log,
    growing,
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
      if (conversation === id.peek()) growing.value = placeDelta(growing.peek(), delta);
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
        const isThere = log.peek().some((event) => isInput(event) && fieldOf(event, "id") === accepted.id);
        outgoing.value = outgoing.peek().flatMap((one) =>
          one.clientId !== clientId ? [one] : isThere ? [] : [{ ...one, messageId: accepted.id, conversation: accepted.conversation }]
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

function isInput(event: ConversationEvent): boolean {
  return event.type === "input_queued";
}
