/**
 * Server-sent events as bytes, with backpressure: `ready()` waits until the client has taken what it was given, so that a slow client costs at
 * most one page of memory. Knows the format, not the events. Proven by `edge/stream_test.ts`.
 */

const HIGH_WATER_BYTES = 64 * 1024;

/** One open stream. */
export class SseWriter {
  readonly body: ReadableStream<Uint8Array>;
  readonly #end = new AbortController();
  readonly #encoder = new TextEncoder();
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  #taken: (() => void) | undefined;

  constructor() {
    this.body = new ReadableStream({
      start: (controller) => {
        this.#controller = controller;
      },
      pull: () => this.#taken?.(),
      cancel: () => {
        this.#controller = undefined;
        this.close();
      },
    }, { highWaterMark: HIGH_WATER_BYTES, size: (chunk) => chunk?.byteLength ?? 0 });
  }

  /** Aborted when the client went away or the stream was closed. */
  get signal(): AbortSignal {
    return this.#end.signal;
  }

  /** Whether the client keeps up: what may be dropped is dropped when it does not. */
  get hasRoom(): boolean {
    return (this.#controller?.desiredSize ?? 0) > 0;
  }

  /** Resolves when the client keeps up, or the stream has ended. */
  async ready(): Promise<void> {
    while (!this.signal.aborted && !this.hasRoom) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#taken = resolve;
      await promise;
    }
  }

  /** Writes an event; JSON has no line breaks, so `data` is one line. */
  event(name: string, data: unknown, id?: number): void {
    const head = id === undefined ? "" : `id: ${id}\n`;
    this.#write(`${head}event: ${name}\ndata: ${JSON.stringify(data)}\n\n`);
  }

  /** Writes how long a browser waits before it connects again, in milliseconds. */
  retry(ms: number): void {
    this.#write(`retry: ${ms}\n\n`);
  }

  /** Writes what keeps proxies and half-open connections honest. */
  heartbeat(): void {
    this.#write(": alive\n\n");
  }

  /** Ends the stream; safe to call twice. */
  close(): void {
    if (this.signal.aborted) return;
    this.#end.abort();
    this.#controller?.close();
    this.#controller = undefined;
    this.#taken?.();
  }

  #write(text: string): void {
    this.#controller?.enqueue(this.#encoder.encode(text));
  }
}
