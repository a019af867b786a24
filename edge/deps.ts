/**
 * What the edge is built from. The supervisor and the Deno Deploy entry fill it in; tests do too. `Edge` is what routes share.
 */
import type { Clock } from "../lib/clock.ts";
import type { NewId } from "../lib/ids.ts";
import type { Family } from "../lib/metrics.ts";
import type { Result } from "../lib/result.ts";
import type { Committer } from "../store/committer.ts";
import type { Db } from "../store/db.ts";
import type { Session } from "../store/edge/sessions.ts";
import type { ActorView, Delta } from "./api.ts";
import type { FeedHub } from "./feed_hub.ts";
import type { RandomBytes } from "./secrets.ts";
import type { UiFiles } from "./ui_files.ts";
import type { Wake } from "./wake.ts";

/** Settings by their fixed environment names. Absent ones switch their feature off. */
export interface EdgeConfig {
  /** `PUBLIC_URL`: the one origin under which people reach the edge; https, or http on a loopback name. */
  readonly publicUrl?: string | undefined;
  /** `PORT`: for the printed link. */
  readonly port: number;
  /** `OWNER_TOKEN`. */
  readonly ownerToken?: string | undefined;
  /** `ZULIP_WEBHOOK_TOKEN`. */
  readonly zulipWebhookToken?: string | undefined;
  /** The public half of the key by which push services know this installation; without it nobody is pushed to. */
  readonly pushKey?: string | undefined;
  /** `PUSH_TEST_ORIGIN`: one more push service, for tests. */
  readonly pushTestOrigin?: string | undefined;
  /** `ZULIP_SITE`: the realm's URL, the same that the zulip actor uses. */
  readonly realm?: string | undefined;
}

/** A piece of an answer for live viewers of one conversation. */
export interface LiveDelta {
  readonly conversation: string;
  readonly delta: Delta;
}

/** Writes one line of the log. Never given a secret or a body. */
export type Log = (
  level: "debug" | "info" | "warn" | "error",
  text: string,
  facts?: Readonly<Record<string, unknown>>,
) => void;

/** Everything that `createApp` takes. */
export interface EdgeDeps {
  readonly db: Db;
  /** Tells the supervisor that rows for these actors were committed; must not throw. */
  readonly doorbell: (refs: readonly string[]) => void;
  readonly clock: Clock;
  readonly newId: NewId;
  /** Default: the platform's. */
  readonly randomBytes?: RandomBytes | undefined;
  readonly config: EdgeConfig;
  readonly log: Log;
  /** The program's version, shown to clients. */
  readonly version: string;
  /** The supervision tree, when the supervisor shares this process. */
  readonly actors?: (() => readonly ActorView[]) | undefined;
  /** Subscribes to live deltas, when the supervisor shares this process; gives the way out. */
  readonly live?: ((listener: (delta: LiveDelta) => void) => () => void) | undefined;
  /** Why the supervisor is not ready, in words for the operator; empty when it is. */
  readonly unready?: (() => readonly string[]) | undefined;
  /** More families for the metrics page. */
  readonly metrics?: (() => readonly Family[]) | undefined;
  /** Why a model cannot be used here, in words, when the configuration of the providers is at hand; without it any may be chosen. */
  readonly modelRefusal?: ((model: string) => string | undefined) | undefined;
  /** The built UI; without it only the API is served. */
  readonly ui?: UiFiles | undefined;
  /** Whether the database fits this build; asked at most twice a minute. Default: `checkSchema`. */
  readonly schema?: (() => Promise<Result<unknown>>) | undefined;
}

/** What routes share. */
export interface Edge extends EdgeDeps {
  readonly randomBytes: RandomBytes;
  readonly committer: Committer;
  readonly hub: FeedHub;
  /** Woken when the supervisor says that rows changed. */
  readonly wake: Wake;
}

/** What a request carries through Hono. `peer` is the address of the other end, where the server knows it. */
export interface EdgeEnv {
  Bindings: { peer?: string };
  Variables: { session: Session; csrf: string };
}
