/** An OpenTelemetry tracer and exporter in memory: spans that ended, in order. */
import {
  type Context,
  type Span,
  type SpanContext,
  type SpanOptions,
  type SpanStatus,
  trace,
  type Tracer,
} from "@opentelemetry/api";

/** A span that ended. */
export interface EndedSpan {
  readonly name: string;
  readonly context: SpanContext;
  readonly parent: SpanContext | undefined;
  readonly options: SpanOptions;
  readonly status: SpanStatus;
}

/** Records spans. */
export class MemoryTracer implements Tracer {
  readonly ended: EndedSpan[] = [];
  #count = 0;

  startSpan(name: string, options: SpanOptions = {}, under?: Context): Span {
    const parent = under && trace.getSpanContext(under);
    const number = (++this.#count).toString(16);
    const context: SpanContext = {
      traceId: parent?.traceId ?? number.padStart(32, "0"),
      spanId: number.padStart(16, "0"),
      traceFlags: 1,
    };
    let status: SpanStatus = { code: 0 };
    const span: Span = {
      spanContext: () => context,
      setAttribute: () => span,
      setAttributes: () => span,
      addEvent: () => span,
      addLink: () => span,
      addLinks: () => span,
      updateName: () => span,
      recordException: () => {},
      isRecording: () => true,
      setStatus: (next) => {
        status = next;
        return span;
      },
      end: () => void this.ended.push({ name, context, parent, options, status }),
    };
    return span;
  }

  startActiveSpan(): never {
    throw new TypeError("nobody calls this");
  }

  /** The first ended span of this name. */
  find(name: string): EndedSpan | undefined {
    return this.ended.find((span) => span.name === name);
  }
}
