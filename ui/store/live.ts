/**
 * The one event stream of the page: opens it, keeps the cursor, opens it anew behind that cursor when the browser gives up or when the watched
 * conversation changes, lets go of it while the page is hidden (a browser shares six HTTP/1.1 connections between all tabs of an address), and says
 * honestly whether what is on screen is current. Events may arrive twice or out of order across a reconnect;
 * the stores are built for that. Knows no event's meaning. Proven by `store_test.ts`.
 */
import { type ReadonlySignal, signal } from "@preact/signals";
import type { StreamEvent, StreamEventName } from "../../edge/api.ts";

/** `connecting`: never had a stream yet. `waiting`: had one, tries again. `offline`: the device itself has no network. `resting`: let go of it while hidden. */
export type Connection = "connecting" | "live" | "waiting" | "offline" | "resting";

/** The part of `EventSource` that is used. */
export interface EventStream {
  readonly readyState: number;
  addEventListener(type: string, listener: (event: MessageEvent<string>) => void): void;
  close(): void;
}

/** What the stream needs from its surroundings. */
export interface LiveOptions {
  readonly open: (url: string) => EventStream;
  readonly onEvent: (event: StreamEvent) => void;
  /** The stream was refused or lost for good; resolves to whether to try again. */
  readonly mayRetry: () => Promise<boolean>;
  readonly isOnline: () => boolean;
  /** Calls back once after `ms` milliseconds; returns what cancels it. */
  readonly after: (ms: number, callback: () => void) => () => void;
}

/** The running stream. */
export interface LiveStream {
  readonly connection: ReadonlySignal<Connection>;
  /** Also asks for the deltas of this conversation; undefined: of none. */
  watch(conversation: string | undefined): void;
  start(): void;
  stop(): void;
  /** The device's network came or went. */
  networkChanged(): void;
  /** The page was hidden or is in front again. Known from the start: visible. */
  visibilityChanged(isVisible: boolean): void;
}

const NAMES: readonly StreamEventName[] = [
  "hello",
  "item",
  "actor",
  "conversation",
  "events",
  "schedule",
  "policy",
  "delta",
  "reset",
];
/** `EventSource.CLOSED`: the browser will not try again by itself. */
const CLOSED = 2;
/** A page hidden for longer gives its connection to the others. */
const REST_AFTER_MS = 2_000;
const RETRY_MS = [1_000, 2_000, 4_000, 8_000, 15_000] as const;

/** Builds the stream; it opens at `start()`. */
export function createLive(options: LiveOptions): LiveStream {
  const connection = signal<Connection>("connecting");
  let source: EventStream | undefined;
  let cursor: number | undefined;
  let watched: string | undefined;
  let failures = 0;
  let running = false;
  let isVisible = true;
  let cancelRetry = () => {};
  let cancelRest: (() => void) | undefined;

  function open(): void {
    cancelRetry();
    source?.close();
    const query = new URLSearchParams();
    if (cursor !== undefined) query.set("after", `${cursor}`);
    if (watched !== undefined) query.set("conversation", watched);
    const stream = options.open(`/api/stream${query.size === 0 ? "" : `?${query}`}`);
    source = stream;
    for (const name of NAMES) {
      stream.addEventListener(name, (message) => stream === source && receive(name, message));
    }
    stream.addEventListener("error", () => stream === source && lost(stream));
  }

  function receive(name: StreamEventName, message: MessageEvent<string>): void {
    failures = 0;
    connection.value = "live";
    const id = message.lastEventId === "" ? undefined : Number(message.lastEventId);
    if (id !== undefined && Number.isSafeInteger(id)) cursor = id;
    // Name and data belong together by the API's own table of stream events.
    if (!isVisible) restSoon();
    options.onEvent({ event: name, data: JSON.parse(message.data) } as StreamEvent);
  }

  function lost(stream: EventStream): void {
    connection.value = options.isOnline() ? "waiting" : "offline";
    if (stream.readyState !== CLOSED) return; // the browser connects again by itself
    source = undefined;
    const waitMs = RETRY_MS[Math.min(failures, RETRY_MS.length - 1)] ?? 1_000;
    failures += 1;
    cancelRetry = options.after(waitMs, () => void retry());
  }

  async function retry(): Promise<void> {
    const may = await options.mayRetry();
    if (running && may && source === undefined && connection.peek() !== "resting") open();
  }

  function restSoon(): void {
    cancelRest ??= options.after(REST_AFTER_MS, () => {
      cancelRest = undefined;
      // Without a cursor nothing could be caught up on; the first event brings one, and this again.
      if (running && !isVisible && cursor !== undefined) rest();
    });
  }

  function rest(): void {
    cancelRetry();
    source?.close();
    source = undefined;
    connection.value = "resting";
  }

  return {
    connection,
    watch(conversation) {
      if (conversation === watched) return;
      watched = conversation;
      if (running && connection.peek() !== "resting") open();
    },
    start() {
      if (running) return;
      running = true;
      open();
    },
    stop() {
      running = false;
      cancelRetry();
      cancelRest?.();
      cancelRest = undefined;
      source?.close();
      source = undefined;
      cursor = undefined;
      connection.value = "connecting";
    },
    networkChanged() {
      if (!running || connection.peek() === "resting") return;
      if (!options.isOnline()) connection.value = "offline";
      else if (connection.value !== "live") open();
    },
    visibilityChanged(next) {
      isVisible = next;
      if (!next && running) return restSoon();
      cancelRest?.();
      cancelRest = undefined;
      if (!running || connection.peek() !== "resting") return;
      connection.value = options.isOnline() ? "waiting" : "offline";
      open();
    },
  };
}
