/**
 * Spans that follow a message across processes, by its `traceparent`: `send` ends when the message is on disk, `handle` lasts from its being
 * handed over until it is done or comes back, `commit` is the write of an actor's answer, `act` a gateway's own work in its process. The only
 * importer of OpenTelemetry's API. Without a registered tracer there is no `Tracing` and nothing of this costs anything; with `OTEL_DENO=true`
 * Deno registers its own. Span names and attributes follow OpenTelemetry's messaging conventions; no payload is ever recorded. Proven by
 * `observe_test.ts`.
 */
import {
  type Context,
  context,
  isSpanContextValid,
  ProxyTracerProvider,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
  type Tracer,
} from "@opentelemetry/api";

export type { Tracer };

/** What a span tells of a message. */
export interface TracedMessage {
  readonly id: string;
  readonly to: string;
  readonly from: string;
  readonly type: string;
  readonly traceparent?: string | null | undefined;
}

/** The tracer of this process, if anybody registered one. */
export function activeTracer(): Tracer | undefined {
  const provider = trace.getTracerProvider();
  const unregistered = provider instanceof ProxyTracerProvider &&
    provider.getDelegateTracer("callboard") === undefined;
  return unregistered ? undefined : provider.getTracer("callboard");
}

/** The supervisor's spans. */
export class Tracing {
  readonly #tracer: Tracer;
  readonly #sends = new Map<string, Span>();
  readonly #handles = new Map<string, Span>();

  constructor(tracer: Tracer) {
    this.#tracer = tracer;
  }

  /** A durable message is being built. Gives the `traceparent` for its envelope. */
  send(message: TracedMessage): string | undefined {
    const span = this.#tracer.startSpan(
      `send ${message.type}`,
      { kind: SpanKind.PRODUCER, attributes: attributesOf(message) },
      contextOf(message.traceparent),
    );
    this.#sends.set(message.id, span);
    return traceparentOf(span) ?? message.traceparent ?? undefined;
  }

  /** It is on disk. */
  sent(id: string): void {
    this.#sends.get(id)?.end();
    this.#sends.delete(id);
  }

  /** Its commit was not made; its span is forgotten. */
  unsent(id: string): void {
    this.#sends.delete(id);
  }

  /** An actor has it in its hands. */
  handed(message: TracedMessage): void {
    const span = this.#tracer.startSpan(
      `handle ${message.type}`,
      { kind: SpanKind.CONSUMER, attributes: attributesOf(message) },
      contextOf(message.traceparent),
    );
    this.#handles.set(message.id, span);
  }

  /** It came back unfinished, because its actor ended. */
  returned(id: string): void {
    this.#handles.get(id)?.setStatus({ code: SpanStatusCode.ERROR, message: "the actor ended" });
    this.done(id);
  }

  /** Its mailbox forgets it. */
  done(id: string): void {
    this.#handles.get(id)?.end();
    this.#handles.delete(id);
  }

  /** The `traceparent` of what comes of a message in hand. */
  within(id: string): string | undefined {
    return traceparentOf(this.#handles.get(id));
  }

  /** A commit that settles these messages begins; call what it returns at its end. */
  commit(settles: readonly string[]): (ok: boolean) => void {
    const first = settles.map((id) => this.#handles.get(id)).find((span) => span !== undefined);
    if (!first) return () => {};
    const attributes = { "messaging.batch.message_count": settles.length };
    const span = this.#tracer.startSpan("commit", { attributes }, trace.setSpan(ROOT_CONTEXT, first));
    return (ok) => {
      if (!ok) span.setStatus({ code: SpanStatusCode.ERROR, message: "refused" });
      span.end();
    };
  }
}

/** Runs a gateway's work on a message in a span; what it fetches meanwhile belongs to it where the platform follows contexts. */
export async function inSpan<T>(tracer: Tracer, message: TracedMessage, work: () => Promise<T>): Promise<T> {
  const parent = contextOf(message.traceparent);
  const span = tracer.startSpan(`act ${message.type}`, { attributes: attributesOf(message) }, parent);
  try {
    return await context.with(trace.setSpan(parent, span), work);
  } catch (error) {
    span.setStatus({
      code: SpanStatusCode.ERROR,
      message: error instanceof Error ? error.name : typeof error,
    });
    throw error;
  } finally {
    span.end();
  }
}

function attributesOf({ id, to, from, type }: TracedMessage): Record<string, string> {
  return {
    "messaging.system": "callboard",
    "messaging.destination.name": to,
    "messaging.message.id": id,
    "callboard.message.type": type,
    "callboard.message.from": from,
  };
}

/** As W3C Trace Context writes it: version, trace, span, flags. */
function traceparentOf(span: Span | undefined): string | undefined {
  const at = span?.spanContext();
  if (!at || !isSpanContextValid(at)) return undefined;
  return `00-${at.traceId}-${at.spanId}-${at.traceFlags.toString(16).padStart(2, "0")}`;
}

function contextOf(traceparent: string | null | undefined): Context {
  const [, traceId, spanId, flags] =
    /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/.exec(traceparent ?? "") ??
      [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return ROOT_CONTEXT;
  const remote = { traceId, spanId, traceFlags: parseInt(flags, 16), isRemote: true };
  return trace.setSpanContext(ROOT_CONTEXT, remote);
}
