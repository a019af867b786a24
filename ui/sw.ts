/**
 * The service worker: keeps the app's own files, so that the page opens without a network and says that it is offline, and shows push messages,
 * which open their item when they are tapped. Nothing of the API is ever cached, answered or called here: what a person decides, they decide in the
 * page. `bundle.ts` writes the list of files into it, and so a new build is a new worker.
 */
import { noticeOf } from "./notice.ts";

interface ExtendableEvent extends Event {
  waitUntil(work: Promise<unknown>): void;
}

interface FetchEvent extends ExtendableEvent {
  readonly request: Request;
  respondWith(answer: Promise<Response>): void;
}

interface PushEvent extends ExtendableEvent {
  readonly data: { text(): string } | null;
}

interface NotificationEvent extends ExtendableEvent {
  readonly notification: { readonly data: unknown; close(): void };
}

/** The part of a `WindowClient` that is used. */
interface Page {
  navigate(url: string): Promise<Page | null>;
  focus(): Promise<unknown>;
}

/** The part of `ServiceWorkerGlobalScope` that is used; the DOM library types `self` as a window. */
interface WorkerScope {
  readonly location: { readonly origin: string };
  readonly clients: {
    claim(): Promise<void>;
    matchAll(options: { readonly type: "window" }): Promise<readonly Page[]>;
    openWindow(url: string): Promise<unknown>;
  };
  readonly registration: { showNotification(title: string, options: unknown): Promise<void> };
  skipWaiting(): Promise<void>;
  addEventListener(type: "install" | "activate", listener: (event: ExtendableEvent) => void): void;
  addEventListener(type: "fetch", listener: (event: FetchEvent) => void): void;
  addEventListener(type: "push", listener: (event: PushEvent) => void): void;
  addEventListener(type: "notificationclick", listener: (event: NotificationEvent) => void): void;
}

declare const self: WorkerScope;
/** Written in by the build: the cache's name and the paths in it. */
declare const SHELL: { readonly version: string; readonly files: readonly string[] };

const CACHE = `callboard-${SHELL.version}`;
const INDEX = "/index.html";

self.addEventListener("install", (event) => {
  event.waitUntil(
    caches.open(CACHE).then((cache) => cache.addAll([...SHELL.files])).then(() => self.skipWaiting()),
  );
});

self.addEventListener("activate", (event) => {
  event.waitUntil(dropOldCaches().then(() => self.clients.claim()));
});

self.addEventListener("fetch", (event) => {
  const { request } = event;
  const url = new URL(request.url);
  if (request.method !== "GET" || url.origin !== self.location.origin) return;
  if (request.mode === "navigate") event.respondWith(page(request));
  else if (SHELL.files.includes(url.pathname)) event.respondWith(shellFile(request));
});

self.addEventListener("push", (event) => {
  const { title, options } = noticeOf(event.data?.text() ?? "");
  event.waitUntil(self.registration.showNotification(title, options));
});

self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(openPage(event.notification.data));
});

/** Shows the screen that a notification is about, in the page that is open or in a new one. */
async function openPage(data: unknown): Promise<void> {
  const isPath = typeof data === "object" && data !== null && "path" in data;
  const url = new URL(isPath ? String(data.path) : "/", self.location.origin).href;
  const [page] = await self.clients.matchAll({ type: "window" });
  try {
    if (!page) throw new TypeError("no page is open");
    await (await page.navigate(url) ?? page).focus();
  } catch {
    // None is open, or it is one that this worker does not control.
    await self.clients.openWindow(url);
  }
}

/** The newest page, or the kept one when the network is away. */
async function page(request: Request): Promise<Response> {
  try {
    return await fetch(request);
  } catch (error) {
    const kept = await caches.match(INDEX, { cacheName: CACHE });
    if (kept === undefined) throw error;
    return kept;
  }
}

async function shellFile(request: Request): Promise<Response> {
  return await caches.match(request, { cacheName: CACHE }) ?? await fetch(request);
}

async function dropOldCaches(): Promise<void> {
  const names = await caches.keys();
  await Promise.all(names.filter((name) => name !== CACHE).map((name) => caches.delete(name)));
}
