/**
 * For machines that watch: is the process alive, can the whole do its work, and how much of what is there. Only numbers and fixed words: nobody
 * need be signed in. Proven by `edge/app_test.ts`.
 */
import { Hono } from "hono";
import { type Family, METRICS_TYPE, type Sample, writeMetrics } from "../../lib/metrics.ts";
import { type Count, leaseState, totals } from "../../store/queries/health.ts";
import type { Edge, EdgeEnv } from "../deps.ts";
import type { RequestCounter } from "../request_counter.ts";
import type { SchemaCheck } from "../schema_check.ts";
import type { Streams } from "../streams.ts";

/** What the routes read besides the database. */
export interface HealthSources {
  readonly streams: Streams;
  readonly requests: RequestCounter;
  readonly schema: SchemaCheck;
}

/** `/healthz`, `/readyz`, `/metrics`. */
export function healthRoutes(edge: Edge, sources: HealthSources): Hono<EdgeEnv> {
  const app = new Hono<EdgeEnv>();

  app.get("/healthz", (c) => c.json({ ok: true }));

  app.get("/readyz", async (c) => {
    const reasons = await whyNotReady(edge, sources.schema);
    return c.json({ ready: reasons.length === 0, reasons }, reasons.length === 0 ? 200 : 503);
  });

  app.get("/metrics", async (c) => {
    const families = [
      ...await rowFamilies(edge),
      ...processFamilies(edge, sources),
      ...edge.metrics?.() ?? [],
    ];
    return c.body(writeMetrics(families), 200, { "Content-Type": METRICS_TYPE });
  });

  return app;
}

async function whyNotReady(edge: Edge, schema: SchemaCheck): Promise<string[]> {
  try {
    const fits = await schema.ask();
    if (!fits.ok) return [fits.error.message];
    const lease = await leaseState(edge.db);
    return [...(lease.fresh ? [] : ["the supervisor is away"]), ...edge.unready?.() ?? []];
  } catch {
    return ["the database cannot be reached"];
  }
}

async function rowFamilies(edge: Edge): Promise<Family[]> {
  const now = edge.clock.now();
  const all = await totals(edge.db, now);
  const lease = await leaseState(edge.db);
  return [
    gauge("callboard_items", "Pending items by state.", labelled("state", all.items)),
    gauge("callboard_conversations", "Conversations by status.", labelled("status", all.conversations)),
    gauge("callboard_messages_queued", "Messages not handled yet, by lane.", labelled("lane", all.queued)),
    counter("callboard_downs_total", "Ends of actors by reason.", labelled("reason", all.downs)),
    counter("callboard_dead_letters_total", "Messages given up.", one(all.deadLetters)),
    counter("callboard_expired_undecided_total", "Items that expired unanswered.", one(all.expiredUndecided)),
    gauge(
      "callboard_oldest_waiting_seconds",
      "Age of the oldest waiting item.",
      one(all.oldestWaitingMs / 1000),
    ),
    gauge(
      "callboard_oldest_queued_seconds",
      "Age of the oldest due message.",
      one(all.oldestQueuedMs / 1000),
    ),
    gauge("callboard_supervisor_up", "1 while the supervisor's lease is fresh.", one(lease.fresh ? 1 : 0)),
  ];
}

function processFamilies(edge: Edge, { streams, requests }: HealthSources): Family[] {
  return [
    gauge("callboard_streams", "Open event streams of this process.", one(streams.size)),
    counter("callboard_http_requests_total", "Requests answered, by status class.", requests.samples()),
    gauge("callboard_info", "The running version.", [{ labels: { version: edge.version }, value: 1 }]),
  ];
}

function labelled(name: string, counts: readonly Count[]): Sample[] {
  return counts.map(({ label, value }) => ({ labels: { [name]: label }, value }));
}

function one(value: number): Sample[] {
  return [{ value }];
}

function gauge(name: string, help: string, samples: readonly Sample[]): Family {
  return { name, help, type: "gauge", samples };
}

function counter(name: string, help: string, samples: readonly Sample[]): Family {
  return { name, help, type: "counter", samples };
}
