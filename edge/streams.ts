/**
 * The open streams of this process: each follows the feed from its own cursor, is told only what its person may see, and is checked again while
 * it is open, so that signing out or losing a channel ends what it sees. Closing is ours: a server that waits for clients would never stop.
 * Proven by `edge/stream_test.ts`.
 */
import { canSee, type Viewer } from "../store/queries/access.ts";
import { findSession, type Session } from "../store/edge/sessions.ts";
import { conversationsById } from "../store/queries/conversations.ts";
import { feedBounds } from "../store/queries/feed.ts";
import type { Edge } from "./deps.ts";
import { ApiError } from "./errors.ts";
import type { Announcement } from "./feed_hub.ts";
import { SseWriter } from "./sse.ts";

/** A stream says something, and is checked, at least this often, in milliseconds. */
export const HEARTBEAT_MS = 20_000;

/** The most streams of one session: tabs and a few that are just dying. */
export const STREAMS_PER_SESSION = 8;

const STREAMS = 500;
const RETRY_MS = 2_000;

/** What a client asks to follow. */
export interface StreamRequest {
  readonly session: Session;
  /** Undefined: from now on. */
  readonly after: number | undefined;
  /** Conversations whose live deltas are wanted. */
  readonly conversations: readonly string[];
}

/** See the file's comment. */
export class Streams {
  readonly #edge: Edge;
  readonly #open = new Map<SseWriter, { readonly hash: string; readonly ended: Promise<void> }>();

  constructor(edge: Edge) {
    this.#edge = edge;
  }

  /** How many are open. */
  get size(): number {
    return this.#open.size;
  }

  /** Opens a stream. Throws `rate_limited` when there are too many already. */
  async open(request: StreamRequest): Promise<ReadableStream<Uint8Array>> {
    const { hash } = request.session;
    const own = [...this.#open.values()].filter((stream) => stream.hash === hash).length;
    if (own >= STREAMS_PER_SESSION || this.size >= STREAMS) {
      throw new ApiError("rate_limited", "Too many open streams; close a tab");
    }
    const bounds = await feedBounds(this.#edge.db);
    const lost = request.after !== undefined &&
      (request.after < bounds.pruned || request.after > bounds.last);
    const cursor = lost ? bounds.last : request.after ?? bounds.last;
    const writer = new SseWriter();
    const stream = new Stream(this.#edge, writer, request, cursor);
    stream.greet(lost);
    const ended = stream.run().finally(() => this.#open.delete(writer));
    this.#open.set(writer, { hash, ended });
    return writer.body;
  }

  /** Ends every stream; resolves when all have let go of the store. */
  async close(): Promise<void> {
    const ended = [...this.#open.values()].map((stream) => stream.ended);
    for (const writer of this.#open.keys()) writer.close();
    await Promise.all(ended);
    await this.#edge.hub.idle();
  }
}

class Stream {
  readonly #edge: Edge;
  readonly #writer: SseWriter;
  readonly #request: StreamRequest;
  #cursor: number;
  #viewer: Viewer;
  #live: ReadonlySet<string> = new Set();
  #checkedAt: number;

  constructor(edge: Edge, writer: SseWriter, request: StreamRequest, cursor: number) {
    this.#edge = edge;
    this.#writer = writer;
    this.#request = request;
    this.#cursor = cursor;
    this.#viewer = request.session.viewer;
    this.#checkedAt = edge.clock.monotonic();
  }

  greet(lost: boolean): void {
    this.#writer.retry(RETRY_MS);
    this.#writer.event("hello", { cursor: this.#cursor, version: this.#edge.version }, this.#cursor);
    if (lost) this.#writer.event("reset", { cursor: this.#cursor }, this.#cursor);
  }

  /** Follows until the client, the session or the process ends. Never rejects. */
  async run(): Promise<void> {
    const unfollow = this.#edge.hub.follow();
    const unsubscribe = this.#edge.live?.(({ conversation, delta }) => {
      if (this.#live.has(conversation) && this.#writer.hasRoom) {
        this.#writer.event("delta", { conversation, delta });
      }
    });
    try {
      await this.#chooseLive();
      while (!this.#writer.signal.aborted) await this.#step();
    } catch (error) {
      // The client connects again and resumes behind what it has.
      this.#edge.log("warn", "A stream ended early", {
        reason: error instanceof Error ? error.name : "unknown",
      });
    } finally {
      unsubscribe?.();
      unfollow();
      this.#writer.close();
    }
  }

  async #step(): Promise<void> {
    await this.#writer.ready();
    const quietMs = this.#edge.clock.monotonic() - this.#checkedAt;
    if (quietMs >= HEARTBEAT_MS) await this.#check();
    if (this.#writer.signal.aborted) return;
    const page = await this.#edge.hub.after(this.#cursor);
    for (const announcement of page.announcements) this.#tell(announcement);
    const moved = page.cursor > this.#cursor;
    this.#cursor = page.cursor;
    const restMs = Math.max(1, HEARTBEAT_MS - quietMs);
    if (!moved) await this.#edge.hub.changed(this.#cursor, restMs, this.#writer.signal);
  }

  #tell({ seq, event, scope, later }: Announcement): void {
    if (scope !== "everybody" && !canSee(this.#viewer, scope.channelId)) return;
    const laterUntil = later?.[this.#viewer.userId];
    const isOwn = event.event === "item" && laterUntil !== undefined;
    const data = isOwn ? { ...event.data, item: { ...event.data.item, laterUntil } } : event.data;
    this.#writer.event(event.event, data, seq);
  }

  /** Is the person still signed in, what may they see now, and is the feed still there where this stream reads? */
  async #check(): Promise<void> {
    this.#checkedAt = this.#edge.clock.monotonic();
    const session = await findSession(this.#edge.db, this.#request.session.hash, this.#edge.clock.now());
    if (!session) return this.#writer.close();
    this.#viewer = session.viewer;
    await this.#chooseLive();
    const { last, pruned } = await feedBounds(this.#edge.db);
    if (this.#cursor < pruned) {
      this.#cursor = last;
      this.#writer.event("reset", { cursor: last }, last);
    }
    this.#writer.heartbeat();
  }

  /** The owner may name a conversation that has no row yet: it was only just begun. */
  async #chooseLive(): Promise<void> {
    const wanted = this.#request.conversations;
    if (this.#edge.live === undefined || wanted.length === 0) return;
    if (this.#viewer.role === "owner") {
      this.#live = new Set(wanted);
      return;
    }
    const rows = await conversationsById(this.#edge.db, wanted);
    this.#live = new Set(rows.filter((row) => canSee(this.#viewer, row.channel_id)).map((row) => row.id));
  }
}
