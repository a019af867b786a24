/**
 * The fetch that one model step is given: it may be used once, and it remembers what came back.
 *
 * Promises: a second request is refused, so nothing below can repeat a step without our knowing; status, headers and
 * the start of an error body are kept for classification; `end()` closes the answer as if the server had; `release()`
 * frees the connection. It does not know providers. Proved by `pi_stream_test.ts` and `pi_faults_test.ts`.
 */

/** At most this much of an error body is read, in bytes. */
const MAX_ERROR_BODY_BYTES = 64 * 1024;
/** An error event is the last thing in a stream; this much of the end is kept, in UTF-16 units. */
const TAIL_CHARS = 8 * 1024;
/** The parsers below gather a line however long it is. */
const MAX_LINE_BYTES = 10 * 1024 * 1024;
const NEWLINE = 10;

/** What came back. */
export interface Observed {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The body of a refused request. */
  readonly errorText?: string;
}

export interface ObservedFetch {
  readonly fetch: typeof globalThis.fetch;
  /** Undefined until an answer came. */
  observed(): Observed | undefined;
  /** The last data line of the stream that is an error object: libraries tell only its message, not its code. */
  streamedError(): string | undefined;
  /** True once a request was sent. */
  wasCalled(): boolean;
  /** Ends the answer's body normally, now. */
  end(): void;
  /** Lets go of the connection. */
  release(): Promise<void>;
}

/** Wraps `fetch` for one request. */
export function observeFetch(fetch: typeof globalThis.fetch): ObservedFetch {
  let called = false;
  let observed: Observed | undefined;
  let body: EndableBody | undefined;

  return {
    async fetch(input, init) {
      if (called) throw new TypeError("a model step sends one request, and a second one was tried");
      called = true;
      const response = await fetch(input, init);
      const { status, statusText, headers } = response;
      observed = { status, headers: Object.fromEntries(headers) };
      if (!response.ok) {
        const errorText = await readStart(response.body);
        observed = { ...observed, errorText };
        return new Response(errorText, { status, statusText, headers: plainHeaders(headers) });
      }
      if (response.body === null) return response;
      body = endableBody(response.body);
      return new Response(body.stream, { status, statusText, headers: plainHeaders(headers) });
    },
    observed: () => observed,
    streamedError: () => body && lastErrorLine(body.tail()),
    wasCalled: () => called,
    end: () => body?.end(),
    release: async () => await body?.release(),
  };
}

/** The body that we hand on is decoded already. */
function plainHeaders(headers: Headers): Headers {
  const plain = new Headers(headers);
  plain.delete("content-encoding");
  plain.delete("content-length");
  return plain;
}

async function readStart(body: ReadableStream<Uint8Array> | null): Promise<string> {
  if (body === null) return "";
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  try {
    while (bytes < MAX_ERROR_BODY_BYTES) {
      const { done, value } = await reader.read();
      if (done) break;
      bytes += value.byteLength;
      text += decoder.decode(value, { stream: true });
    }
  } catch {
    // A cut error body still tells the status, and what was read of it.
  }
  await reader.cancel().catch(() => {});
  return text + decoder.decode();
}

function lastErrorLine(tail: string): string | undefined {
  const lines = tail.split(/\r\n|\n|\r/).flatMap((line) => /^data: ?(\{.*\})\s*$/.exec(line)?.[1] ?? []);
  return lines.findLast(isErrorObject);
}

function isErrorObject(line: string): boolean {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null && "error" in value && Boolean(value.error);
  } catch {
    return false;
  }
}

interface EndableBody {
  readonly stream: ReadableStream<Uint8Array<ArrayBuffer>>;
  /** The end of what was received so far, as text. */
  tail(): string;
  end(): void;
  release(): Promise<void>;
}

function endableBody(source: ReadableStream<Uint8Array<ArrayBuffer>>): EndableBody {
  const reader = source.getReader();
  const decoder = new TextDecoder();
  let tail = "";
  let lineBytes = 0;
  let output: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>> | undefined;
  let over = false;

  function end(): void {
    if (over) return;
    over = true;
    output?.close();
  }

  const stream = new ReadableStream<Uint8Array<ArrayBuffer>>({
    start(controller) {
      output = controller;
    },
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (over) return;
        if (done) return end();
        const newline = value.lastIndexOf(NEWLINE);
        lineBytes = newline < 0 ? lineBytes + value.length : value.length - newline - 1;
        if (lineBytes > MAX_LINE_BYTES) throw new RangeError("a line of the stream is longer than 10 MiB");
        tail = (tail + decoder.decode(value, { stream: true })).slice(-TAIL_CHARS);
        controller.enqueue(value);
      } catch (cause) {
        if (over) return;
        over = true;
        controller.error(cause);
      }
    },
    cancel(reason) {
      over = true;
      return reader.cancel(reason);
    },
  });
  return {
    stream,
    tail: () => tail,
    end,
    async release() {
      over = true;
      await reader.cancel().catch(() => {});
    },
  };
}
