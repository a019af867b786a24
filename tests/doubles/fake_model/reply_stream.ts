/** Writes a reply of the script as an HTTP answer: a refusal, or a stream of events with the faults it asks for. */

import type { FinishReason, Reply, Step } from "./script.ts";
import type { Wire, Writer } from "./wire.ts";

export interface ReplyOptions {
  readonly wire: Wire;
  readonly model: string;
  /** Waits until the test lets go, or the client is gone. */
  readonly hold: (gone: Promise<unknown>) => Promise<void>;
  readonly end: (how: "done" | "gone") => void;
}

/** Answers with the reply. */
export function writeReply(reply: Reply, options: ReplyOptions): Response {
  const [first] = reply;
  if (first?.do === "http" || first?.do === "overflow") {
    options.end("done");
    return refusal(first, options.wire);
  }
  const headers = { "content-type": "text/event-stream", "cache-control": "no-cache" };
  return new Response(eventStream(reply, options), { headers });
}

function refusal(step: Extract<Step, { do: "http" | "overflow" }>, wire: Wire): Response {
  if (step.do === "overflow") {
    const type = wire.protocol === "anthropic" ? "invalid_request_error" : "context_length_exceeded";
    return json(400, wire.refusal(type, wire.overflowMessage));
  }
  const kind = step.status === 529
    ? "overloaded_error"
    : step.status === 429
    ? "rate_limit_error"
    : "fake_error";
  return json(
    step.status,
    step.body ?? wire.refusal(kind, `the fake model answers ${step.status}`),
    step.headers,
  );
}

function json(status: number, body: string, headers: Record<string, string> = {}): Response {
  return new Response(body, { status, headers: { "content-type": "application/json", ...headers } });
}

function eventStream(reply: Reply, { wire, model, hold, end }: ReplyOptions): ReadableStream<Uint8Array> {
  const { promise: gone, resolve: leave } = Promise.withResolvers<void>();
  const encoder = new TextEncoder();
  const pieces = write(reply, wire.open(model), () => hold(gone));
  return new ReadableStream({
    async pull(controller) {
      const next = await pieces.next();
      if (!next.done) return controller.enqueue(encoder.encode(next.value));
      end("done");
      if (next.value === "cut") controller.error("(the fake model cuts the connection, as its script says)");
      else controller.close();
    },
    cancel() {
      end("gone");
      leave();
    },
  });
}

async function* write(
  reply: Reply,
  writer: Writer,
  hold: () => Promise<void>,
): AsyncGenerator<string, "cut" | "closed"> {
  let calls = 0;
  yield writer.start();
  for (const step of reply) {
    switch (step.do) {
      case "text":
        yield* writer.text(step.chunks);
        break;
      case "reasoning":
        yield* writer.reasoning(step.chunks, step.signature ?? "signed-by-the-fake-model");
        break;
      case "call":
        yield* writer.call(step.id ?? `call_${calls}`, step.name, step.fragments);
        calls++;
        break;
      case "error":
        yield writer.error(step.type, step.message);
        return "closed";
      case "hang":
        await hold();
        break;
      case "raw":
        yield step.text;
        break;
      case "finish":
        yield* writer.finish(step.reason);
        return "closed";
      case "stay_open":
        yield* writer.finish(step.reason);
        await hold();
        return "closed";
      case "cut":
        return "cut";
      case "close":
        return "closed";
      case "http":
      case "overflow":
        throw new TypeError(`'${step.do}' must be the first step of a reply`);
    }
  }
  const implied: FinishReason = calls > 0 ? "tool_use" : "stop";
  yield* writer.finish(implied);
  return "closed";
}
