/**
 * One message from Zulip to its answer is one trace, told by the supervisor and the gateways to an OpenTelemetry collector.
 */
import assert from "node:assert/strict";
import * as z from "zod";
import { World } from "./world.ts";

/** What is read of an OTLP/HTTP export in JSON. */
const Export = z.object({
  resourceSpans: z.array(z.object({
    resource: z.object({ attributes: z.array(z.object({ key: z.string(), value: z.unknown() })) }),
    scopeSpans: z.array(z.object({
      spans: z.array(z.object({
        traceId: z.string(),
        spanId: z.string(),
        parentSpanId: z.string().optional(),
        name: z.string(),
      })),
    })),
  })),
});

type Span = z.infer<typeof Export>["resourceSpans"][number]["scopeSpans"][number]["spans"][number];

Deno.test("spans follow a message across processes, in one trace", async () => {
  const spans: Span[] = [];
  const collector = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
    const body: unknown = await request.json();
    const parsed = Export.safeParse(body);
    for (const { scopeSpans } of parsed.data?.resourceSpans ?? []) {
      for (const scope of scopeSpans) spans.push(...scope.spans);
    }
    return Response.json({});
  });
  {
    await using world = await World.open({
      env: {
        OTEL_DENO: "true",
        OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
        OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${collector.addr.port}`,
        OTEL_BSP_SCHEDULE_DELAY: "200",
      },
    });
    world.zulip.say("King Hamlet", "general", "t", "@**Callboard** follow me");
    await world.answered("t", /follow me/);
    const inTrace = (name: string, trace?: string) =>
      spans.find((span) => span.name === name && (trace === undefined || span.traceId === trace));

    const [model, answer] = await world.until(() => {
      const model = inTrace("act model.stream");
      const answer = model && inTrace("act topic.answer", model.traceId);
      return Promise.resolve(model && answer && [model, answer] as const);
    });

    const sent = spans.find((span) => span.spanId === model.parentSpanId);
    assert.equal(sent?.name, "send model.stream");
    assert.equal(answer.traceId, model.traceId);
    for (
      const name of ["handle conversation.message", "handle model.stream", "send topic.answer", "commit"]
    ) {
      assert.ok(inTrace(name, model.traceId), name);
    }
  }
  await collector.shutdown();
});
