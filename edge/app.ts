/**
 * Builds the HTTP application from its dependencies: one small file per resource under `routes/`, and here what they all pass through: headers,
 * our own host and origin, size limits, the schema, the session. It listens nowhere and reads no environment.
 * Proven by `edge/app_test.ts` and `edge/permissions_test.ts`.
 */
import { Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { methodNotAllowed } from "hono/method-not-allowed";
import { newId } from "../lib/ids.ts";
import { Committer } from "../store/committer.ts";
import { ensureOwner, type User } from "../store/edge/users.ts";
import { checkSchema } from "../store/migrate.ts";
import { requireSession } from "./auth.ts";
import type { Edge, EdgeDeps, EdgeEnv } from "./deps.ts";
import { describeFeed } from "./describe_feed.ts";
import { ApiError, CommitRefused, errorAnswer } from "./errors.ts";
import { FeedHub } from "./feed_hub.ts";
import { securityHeaders } from "./headers.ts";
import { checkPublicUrl, requireOwnHost, requireOwnOrigin } from "./origin.ts";
import { announcePeople } from "./people.ts";
import { RequestCounter } from "./request_counter.ts";
import { actorRoutes } from "./routes/actors.ts";
import { auditRoutes } from "./routes/audit.ts";
import { commandRoutes } from "./routes/commands.ts";
import { conversationRoutes } from "./routes/conversations.ts";
import { deadLetterRoutes } from "./routes/dead_letters.ts";
import { deviceRoutes } from "./routes/devices.ts";
import { explainRoutes } from "./routes/explain.ts";
import { healthRoutes, type HealthSources } from "./routes/health.ts";
import { inboxRoutes } from "./routes/inbox.ts";
import { passkeyRoutes } from "./routes/passkeys.ts";
import { passkeySessionRoutes } from "./routes/passkey_session.ts";
import { policyRoutes } from "./routes/policy.ts";
import { profileRoutes } from "./routes/profiles.ts";
import { pushRoutes } from "./routes/push.ts";
import { ruleRoutes } from "./routes/rules.ts";
import { scheduleRoutes } from "./routes/schedules.ts";
import { sessionRoutes } from "./routes/session.ts";
import { staticRoutes } from "./routes/static.ts";
import { streamRoutes } from "./routes/stream.ts";
import { userRoutes } from "./routes/users.ts";
import { webhookRoutes } from "./routes/webhook.ts";
import { SchemaCheck } from "./schema_check.ts";
import { checkOwnerToken, randomBytes } from "./secrets.ts";
import { signInLink } from "./sign_in_link.ts";
import { Streams } from "./streams.ts";
import { Wake } from "./wake.ts";

const MAX_BODY_BYTES = 1024 * 1024;

/** The application, ready to be served. */
export interface EdgeApp {
  /** Answers a request; `peer` is the address of the other end, by which attempts are counted. */
  fetch(request: Request, peer?: string): Promise<Response>;
  /** `fetch` by path, for tests. */
  request(path: string, init?: RequestInit): Promise<Response>;
  /** Says that rows were committed (feed, answers to commands): streams and waiting commands look at once. */
  notify(): void;
  /** To be called once at the start, when the schema is there: makes the owner if there is none and tells approval who is who. */
  start(): Promise<void>;
  /** Makes the owner at the first start and gives a one-time sign-in link; `origin` counts when there is no `PUBLIC_URL`. */
  printedLink(origin?: string): Promise<string>;
  /** Ends every event stream; resolves when they have let go of the store. Call it before the server stops. */
  closeStreams(): Promise<void>;
  /** `closeStreams`, then lets the commits under way end. The database stays open. */
  close(): Promise<void>;
}

/** Builds the application. Throws `RangeError` for an `OWNER_TOKEN` that is too short or a `PUBLIC_URL` that is no safe origin. */
export function createApp(deps: EdgeDeps): EdgeApp {
  checkOwnerToken(deps.config.ownerToken);
  checkPublicUrl(deps.config.publicUrl);
  const edge = buildEdge(deps);
  const streams = new Streams(edge);
  const requests = new RequestCounter();
  const schema = new SchemaCheck(deps.clock, deps.schema ?? (() => checkSchema(deps.db)));
  const app = buildRoutes(edge, { streams, requests, schema });

  return {
    fetch: async (request, peer) => await app.fetch(request, peer === undefined ? {} : { peer }),
    request: async (path, init) => await app.request(path, init, {}),
    notify() {
      edge.hub.notify();
      edge.wake.ring();
    },
    async start() {
      await ensureOwner(edge.db, edge.clock.now());
      await announcePeople(edge);
    },
    async printedLink(origin) {
      const owner: User = await ensureOwner(edge.db, edge.clock.now());
      return (await signInLink(edge, owner.id, { origin })).url;
    },
    closeStreams: () => streams.close(),
    async close() {
      await streams.close();
      await edge.committer.close();
    },
  };
}

function buildEdge(deps: EdgeDeps): Edge {
  const { db, clock, log } = deps;
  const committer = new Committer(db, {
    clock,
    random: Math.random,
    newCommitId: newId,
    giveUpMs: 5_000,
    // The edge has no lease to lose: a commit whose outcome nobody can tell is that request's answer, not the end of the process.
    onLost: () => committer.setFence(null),
  });
  const hub = new FeedHub({
    db,
    clock,
    describe: (rows) => describeFeed(edge, rows),
    onError: (error) => log("warn", "The feed could not be read", { reason: nameOf(error) }),
  });
  const edge: Edge = {
    ...deps,
    randomBytes: deps.randomBytes ?? randomBytes,
    committer,
    hub,
    wake: new Wake(clock),
  };
  return edge;
}

function buildRoutes(edge: Edge, sources: HealthSources): Hono<EdgeEnv> {
  const { config, log } = edge;
  const app = new Hono<EdgeEnv>();
  app.onError((error, c) =>
    errorAnswer(
      c,
      error,
      () => log("error", "A request failed", { method: c.req.method, reason: describe(error) }),
    )
  );
  app.notFound((c) => errorAnswer(c, new ApiError("not_found", "There is nothing here"), () => {}));
  app.use(sources.requests.middleware());
  app.use(securityHeaders(config));
  app.use(requireOwnHost(config));

  app.route("/", healthRoutes(edge, sources));
  app.use("/zulip/*", sources.schema.middleware());
  app.route("/zulip", webhookRoutes(edge));
  app.route("/api", apiRoutes(edge, sources));
  if (edge.ui) app.route("/", staticRoutes(edge.ui));
  return app;
}

function apiRoutes(edge: Edge, { schema, streams }: HealthSources): Hono<EdgeEnv> {
  const api = new Hono<EdgeEnv>();
  api.use(requireOwnOrigin(edge.config));
  api.use(bodyLimit({ maxSize: MAX_BODY_BYTES, onError: tooLarge }));
  api.use(schema.middleware());
  api.use(methodNotAllowed({ app: api, onMethodNotAllowed: refuseMethod }));
  api.route("/", sessionRoutes(edge));
  api.route("/", passkeySessionRoutes(edge));

  // Everything below needs a session; the two above ask for it where they do.
  api.use(requireSession(edge));
  api.route("/passkeys", passkeyRoutes(edge));
  api.route("/devices", deviceRoutes(edge));
  api.route("/push", pushRoutes(edge));
  api.route("/users", userRoutes(edge));
  api.route("/inbox", inboxRoutes(edge));
  api.route("/conversations", conversationRoutes(edge));
  api.route("/actors", actorRoutes(edge));
  api.route("/rules/explain", explainRoutes(edge));
  api.route("/", ruleRoutes(edge));
  api.route("/", policyRoutes(edge));
  api.route("/", profileRoutes(edge));
  api.route("/schedules", scheduleRoutes(edge));
  api.route("/commands", commandRoutes(edge));
  api.route("/dead-letters", deadLetterRoutes(edge));
  api.route("/audit", auditRoutes(edge));
  api.route("/stream", streamRoutes(streams));
  return api;
}

function tooLarge(): never {
  throw new ApiError("too_large", "The body is too large");
}

function refuseMethod(): never {
  throw new ApiError("method_not_allowed", "This address does not take that method");
}

/** An error for the log: its kind and where it came from, not its message, which might quote what a person wrote. */
function describe(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  if (error instanceof CommitRefused) return error.message;
  const frame = error.stack?.split("\n").find((line) => line.trimStart().startsWith("at "))?.trim();
  return frame ? `${error.name} ${frame}` : error.name;
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : typeof error;
}
