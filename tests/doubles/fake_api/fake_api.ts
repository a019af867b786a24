/**
 * The HTTP API without anything behind it: serves the built UI under the product's own security policy, answers from samples, and decides what it is
 * told. For browser tests and for looking at the UI. A test may set `failing`, call `emit`, or read `calls`.
 */
import { Hono } from "hono";
import type { DecisionRequest, Item, Me, PasskeyOffer, StreamEvent } from "../../../edge/api.ts";
import { CONTENT_SECURITY_POLICY } from "../../../edge/headers.ts";
import { staticRoutes } from "../../../edge/routes/static.ts";
import { SseWriter } from "../../../edge/sse.ts";
import { folderUi } from "../../../edge/ui_files.ts";
import { lengthened } from "./long_words.ts";
import { fakePolicyRoutes } from "./policy_routes.ts";
import { fakeUserRoutes } from "./user_routes.ts";
import {
  sampleActors,
  sampleConversations,
  sampleEvents,
  sampleItems,
  sampleMe,
  sampleOffers,
  samplePasskeys,
  sampleQueue,
  sampleUsers,
} from "./samples.ts";

/** A token that signs in. */
export const FAKE_TOKEN = "fake-owner-token-of-32-characters";

/** A running fake. */
export interface FakeApi {
  readonly url: string;
  /** Method and path of every call, in order. */
  readonly calls: readonly string[];
  /** Every later call answers 503 while it is true. */
  failing: boolean;
  /** Nothing waits and nothing was ever said. */
  empty: boolean;
  /** The entry at which the log's chain breaks. */
  brokenAt: number | undefined;
  /** Every text that a person or a model wrote ends in `LONG_WORD`. */
  longWords: boolean;
  /** Changes that last are refused until the person confirms with `FAKE_TOKEN`. */
  isStale: boolean;
  /** The role of who is signed in. */
  role: Me["user"]["role"];
  /** So many words of others wait in `c1` behind the call. */
  queued: number;
  /** Adds an item or replaces it, and tells every open stream. */
  put(item: Item): Item;
  /** Sends to every open stream. */
  emit(event: StreamEvent): void;
  /** Ends every open stream; browsers connect again. */
  dropStreams(): void;
  close(): Promise<void>;
}

/** Starts it on 127.0.0.1. `uiFolder` holds the built UI. */
export async function startFakeApi(uiFolder: string, { signedIn = true, port = 0 } = {}): Promise<FakeApi> {
  const now = Date.now();
  const items = new Map(sampleItems(now).map((item) => [item.id, item]));
  const calls: string[] = [];
  const streams = new Set<SseWriter>();
  let isIn = signedIn;
  let cursor = 0;

  const app = new Hono();
  app.use(async (c, next) => {
    calls.push(`${c.req.method} ${c.req.path}`);
    const isApi = c.req.path.startsWith("/api/");
    if (isApi && fake.failing) {
      return c.json(errorBody("unavailable", "The database cannot be reached right now"), 503);
    }
    if (isApi && !isIn && !["/api/session", "/api/passkeys/offer"].includes(c.req.path)) {
      return c.json(errorBody("unauthorized", "Sign in first"), 401);
    }
    const isChange = c.req.method !== "GET" &&
      /^\/api\/(rules|groups|gate|users|devices\/link)/.test(c.req.path);
    if (fake.isStale && isChange && !c.req.path.endsWith("/preview")) {
      return c.json(errorBody("reauthenticate", "This needs a recent sign-in; confirm that it is you"), 403);
    }
    await next();
    c.header("Content-Security-Policy", CONTENT_SECURITY_POLICY);
    if (fake.longWords && c.res.headers.get("content-type")?.startsWith("application/json")) {
      c.res = Response.json(lengthened(await c.res.json()), { status: c.res.status });
    }
  });

  app.post("/api/session", async (c) => {
    const { token } = await c.req.json<{ token: string }>();
    if (token !== FAKE_TOKEN) {
      return c.json(errorBody("unauthorized", "This sign-in token is wrong, used or too old"), 401);
    }
    isIn = true;
    return c.json({ ok: true }, 201);
  });
  app.post("/api/session/confirm", async (c) => {
    const { token } = await c.req.json<{ token: string }>();
    if (token !== FAKE_TOKEN) return c.json(errorBody("forbidden", "This token is wrong"), 403);
    fake.isStale = false;
    return c.body(null, 204);
  });
  app.delete("/api/session", (c) => {
    isIn = false;
    return c.body(null, 204);
  });
  app.get("/api/me", (c) => {
    const me = sampleMe(now);
    return c.json({ ...me, user: { ...me.user, role: fake.role } } satisfies Me);
  });
  app.get("/api/passkeys/offer", (c) => c.json({ offered: true, known: true } satisfies PasskeyOffer));
  app.get("/api/passkeys", (c) => c.json(samplePasskeys(now)));
  app.get("/api/devices", (c) =>
    c.json({
      devices: [
        { id: "d1", name: "Chrome on Android", createdAt: now, seenAt: now, current: true },
        { id: "d2", name: "Firefox on Linux", createdAt: now, seenAt: now - 7_200_000, current: false },
      ],
    }));
  app.post(
    "/api/devices/link",
    (c) => c.json({ url: `${fake.url}/#token=${FAKE_TOKEN}`, expiresAt: now + 900_000 }, 201),
  );
  app.get("/api/push", (c) => c.json({ publicKey: "B".padEnd(87, "A") }));
  app.delete("/api/devices/:id", (c) => c.body(null, 204));

  app.get("/api/inbox", (c) => {
    const state = c.req.query("state");
    const found = fake.empty
      ? []
      : [...items.values()].filter((item) => state === undefined || item.state === state);
    return c.json({ items: found, total: found.length });
  });
  app.get("/api/inbox/:id", (c) => {
    const item = items.get(c.req.param("id"));
    return item ? c.json(item) : c.json(errorBody("not_found", "There is no such item"), 404);
  });
  app.post("/api/inbox/:id/decision", async (c) => {
    const item = items.get(c.req.param("id"));
    if (!item) return c.json(errorBody("not_found", "There is no such item"), 404);
    const request = await c.req.json<DecisionRequest>();
    if (item.state !== "waiting" || item.version !== request.version) {
      return c.json({ ...errorBody("conflict", "Somebody else was first"), item }, 409);
    }
    return c.json(put({ ...item, ...decided(item, request) }));
  });
  app.post("/api/inbox/:id/later", async (c) => {
    const { until } = await c.req.json<{ until: number | null }>();
    const item = items.get(c.req.param("id"));
    if (!item) return c.notFound();
    const { laterUntil: _, ...rest } = item;
    return c.json(put(until === null ? rest : { ...item, laterUntil: until }));
  });
  app.post("/api/inbox/:id/delegate", async (c) => {
    const { userId } = await c.req.json<{ userId: string | null }>();
    const item = items.get(c.req.param("id"));
    const { delegatedTo: _, ...rest } = item ?? {};
    if (!item) return c.notFound();
    return c.json(
      put(userId === null ? rest as Item : { ...item, delegatedTo: { id: userId, name: "Grace" } }),
    );
  });
  app.post("/api/inbox/:id/undo", (c) => {
    const item = items.get(c.req.param("id"));
    if (!item) return c.notFound();
    put({ ...item, state: "cancelled", version: item.version + 1, note: "Taken back by Ada" });
    return c.json({ command: "m10" });
  });
  app.get(
    "/api/inbox/:id/rules",
    (c) => c.json({ offers: c.req.param("id") === "i2" ? sampleOffers() : [] }),
  );
  app.route("/api/users", fakeUserRoutes(() => fake.url));
  app.get(
    "/api/inbox/:id/deciders",
    (c) =>
      c.json({ people: sampleUsers().filter(({ id }) => id !== "u1").map(({ id, name }) => ({ id, name })) }),
  );
  app.post("/api/inbox/:id/seen", (c) => c.body(null, 204));

  app.get("/api/conversations", (c) => c.json({ conversations: fake.empty ? [] : sampleConversations(now) }));
  app.post("/api/conversations", (c) => c.json({ id: "m9", conversation: "c2" }, 202));
  app.get("/api/conversations/:id", (c) => {
    const row = sampleConversations(now).find(({ id }) => id === c.req.param("id"));
    return row ? c.json(row) : c.json(errorBody("not_found", "There is no such conversation"), 404);
  });
  app.get("/api/conversations/:id/events", (c) => {
    const after = Number(c.req.query("after") ?? 0);
    const log = c.req.param("id") === "c1" ? sampleQueue(sampleEvents(now), fake.queued) : [];
    return c.json({ events: log.filter(({ seq }) => seq > after) });
  });
  app.post(
    "/api/conversations/:id/:command",
    (c) => c.json({ id: "m10", conversation: c.req.param("id") }, 202),
  );
  app.get(
    "/api/actors",
    (c) => c.json({ actors: sampleActors(now), source: "live", supervisor: { away: false } }),
  );
  app.post("/api/actors/:ref/restart", (c) => c.json({ command: "x1" }, 202));
  const policy = fakePolicyRoutes({
    announce: (event) => fake.emit({ event, data: { ref: "x" } }),
    isEmpty: () => fake.empty,
    brokenAt: () => fake.brokenAt,
  });
  app.route("/api", policy);
  app.get("/api/stream", (c) => {
    const writer = new SseWriter();
    streams.add(writer);
    writer.signal.addEventListener("abort", () => streams.delete(writer));
    writer.retry(200);
    writer.event("hello", { cursor, version: "0.1.0" }, cursor);
    return c.body(writer.body, 200, { "Content-Type": "text/event-stream", "Cache-Control": "no-store" });
  });
  app.route("/", staticRoutes(await folderUi(uiFolder)));

  function put(item: Item): Item {
    items.set(item.id, item);
    fake.emit({ event: "item", data: { item } });
    return item;
  }

  const server = Deno.serve({ hostname: "127.0.0.1", port, onListen: () => {} }, app.fetch);
  const fake: FakeApi = {
    url: `http://127.0.0.1:${server.addr.port}`,
    calls,
    failing: false,
    empty: false,
    brokenAt: undefined,
    longWords: false,
    isStale: false,
    role: "owner",
    queued: 0,
    put,
    emit({ event, data }) {
      cursor += 1;
      for (const writer of streams) writer.event(event, data, event === "delta" ? undefined : cursor);
    },
    dropStreams() {
      for (const writer of [...streams]) writer.close();
    },
    async close() {
      this.dropStreams();
      await server.shutdown();
    },
  };
  return fake;
}

/** What a decision changes; the fake applies nothing, so it stays *decided*. */
function decided(item: Item, request: DecisionRequest): Partial<Item> {
  const { decision, note, content } = request;
  const answer = item.secret ? undefined : content ? JSON.stringify(content) : request.answer;
  const at = Date.now();
  return {
    state: "decided",
    version: item.version + 1,
    updatedAt: at,
    decision: {
      decision,
      by: "Ada",
      surface: "web",
      at,
      ...(note ? { note } : {}),
      ...(answer ? { answer } : {}),
    },
  };
}

function errorBody(code: string, message: string): { error: { code: string; message: string } } {
  return { error: { code, message } };
}
