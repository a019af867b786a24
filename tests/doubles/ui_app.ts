/**
 * The stores on a browser of hand-made parts, for tests: answers are functions by method and path, streams are driven by hand, and time stands still until
 * it is moved.
 */
import { sampleActors, sampleConversations, sampleItems, sampleMe } from "./fake_api/samples.ts";
import { type App, type AppHost, createApp } from "../../ui/store/app.ts";
import type { PushHost } from "../../ui/store/push.ts";
import type { EventStream } from "../../ui/store/live.ts";

/** Answers a call; undefined is a 404. */
export type Answer = (body: unknown) => unknown;

/** A stream that the test drives. */
export class HandStream implements EventStream {
  readyState = 1;
  readonly #listeners = new Map<string, (event: MessageEvent<string>) => void>();
  constructor(readonly url: string) {}

  addEventListener(type: string, listener: (event: MessageEvent<string>) => void): void {
    this.#listeners.set(type, listener);
  }

  close(): void {
    this.readyState = 2;
  }

  /** Delivers an event with its id. */
  emit(type: string, data: unknown, id?: number): void {
    this.#listeners.get(type)?.(
      new MessageEvent(type, { data: JSON.stringify(data), lastEventId: id === undefined ? "" : `${id}` }),
    );
  }

  /** Breaks; `closed`: the browser does not try again. */
  fail({ closed }: { readonly closed: boolean }): void {
    if (closed) this.readyState = 2;
    this.#listeners.get("error")?.(new MessageEvent("error"));
  }
}

/** A refusal with its status. */
export class Refusal {
  constructor(readonly status: number, readonly body: unknown) {}
}

/** A browser's push messages that the test drives. */
export class HandBrowser implements PushHost {
  readonly support = "full";
  /** What the person says when they are asked. */
  answer: NotificationPermission = "granted";
  failure: Error | undefined;
  endpointNow: string | undefined;
  readonly subscribedWith: string[] = [];
  /** The tags of the notifications that stand there. */
  shown = new Set<string>();
  #permission: NotificationPermission = "default";

  permission(): NotificationPermission {
    return this.#permission;
  }

  ask(): Promise<NotificationPermission> {
    this.#permission = this.answer;
    return Promise.resolve(this.answer);
  }

  endpoint(): Promise<string | undefined> {
    return Promise.resolve(this.endpointNow);
  }

  subscribe(publicKey: string): ReturnType<PushHost["subscribe"]> {
    if (this.failure) return Promise.reject(this.failure);
    this.subscribedWith.push(publicKey);
    this.endpointNow = "https://fcm.googleapis.com/fcm/send/one";
    return Promise.resolve({ endpoint: this.endpointNow, keys: { p256dh: "p", auth: "a" } });
  }

  unsubscribe(): Promise<void> {
    this.endpointNow = undefined;
    return Promise.resolve();
  }

  keepOnly(isWaiting: (itemId: string) => boolean): Promise<void> {
    this.shown = new Set([...this.shown].filter(isWaiting));
    return Promise.resolve();
  }
}

/** The stores and the levers. */
export interface TestApp {
  readonly app: App;
  readonly answers: Map<string, Answer>;
  /** Every call as `METHOD /path`, and its headers. */
  readonly calls: { readonly call: string; readonly headers: Headers; readonly body: unknown }[];
  readonly streams: HandStream[];
  readonly browser: HandBrowser;
  readonly timers: { readonly ms: number; readonly run: () => void }[];
  readonly storage: Map<string, string>;
  readonly attributes: Map<string, string>;
}

/** Builds the stores. Whatever has no answer is refused with 404. */
export function createTestApp(
  options: { readonly fragment?: string; readonly path?: string; readonly storage?: Map<string, string> } =
    {},
): TestApp {
  const answers = new Map<string, Answer>();
  const calls: TestApp["calls"] = [];
  const streams: HandStream[] = [];
  const browser = new HandBrowser();
  const timers: TestApp["timers"] = [];
  const storage = options.storage ?? new Map<string, string>();
  const attributes = new Map<string, string>();
  const location = { pathname: options.path ?? "/" };
  let ids = 0;

  const fetch: AppHost["fetch"] = async (input, init) => {
    const url = new URL(String(input), "http://test");
    const call = `${init?.method ?? "GET"} ${url.pathname.replace("/api", "")}${url.search}`;
    const body: unknown = typeof init?.body === "string" ? JSON.parse(init.body) : undefined;
    calls.push({ call, headers: new Headers(init?.headers), body });
    const answer = answers.get(call) ?? answers.get(call.split("?")[0] ?? call);
    const said = answer
      ? await answer(body)
      : new Refusal(404, { error: { code: "not_found", message: call } });
    if (said instanceof Refusal) return Response.json(said.body, { status: said.status });
    return said === undefined ? new Response(null, { status: 204 }) : Response.json(said);
  };
  const move = (_: unknown, __: string, path?: string | URL | null) => {
    location.pathname = String(path);
  };

  const app = createApp({
    fetch,
    authenticator: { isSupported: true, create: () => Promise.resolve({}), get: () => Promise.resolve({}) },
    fragment: options.fragment ?? "",
    openStream: (url) => {
      const stream = new HandStream(url);
      streams.push(stream);
      return stream;
    },
    isOnline: () => true,
    after: (ms, run) => {
      timers.push({ ms, run });
      return () => {};
    },
    now: () => UI_NOW,
    newId: () => `client-${++ids}`,
    push: browser,
    storage: {
      getItem: (key) => storage.get(key) ?? null,
      setItem: (key, value) => void storage.set(key, value),
    },
    root: {
      setAttribute: (name, value) => void attributes.set(name, value),
      removeAttribute: (name) => void attributes.delete(name),
    },
    location,
    history: { pushState: move, replaceState: move },
    addEventListener: () => {},
  });
  return { app, answers, calls, streams, browser, timers, storage, attributes };
}

/** The moment at which the stores' clock stands, in milliseconds since the epoch. */
export const UI_NOW = 1_000_000;

/** Lets every answer that is on its way arrive. */
export async function answered(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
  await new Promise<void>((resolve) => setTimeout(resolve, 0));
}

/** The stores after the owner has signed in and every list was read. */
export async function signedIn(options: { readonly path?: string } = {}): Promise<TestApp> {
  const test = createTestApp(options);
  const items = sampleItems(UI_NOW);
  test.answers.set("GET /me", () => sampleMe(UI_NOW));
  test.answers.set("GET /inbox", () => ({ items, total: items.length }));
  test.answers.set("GET /conversations", () => ({ conversations: sampleConversations(UI_NOW) }));
  test.answers.set(
    "GET /actors",
    () => ({ actors: sampleActors(UI_NOW), source: "live", supervisor: { away: false } }),
  );
  test.answers.set("GET /effects", () => ({ suspended: null }));
  await test.app.start();
  await answered();
  return test;
}
