/**
 * The service worker: keeps the app's own files, so that the page opens without a network and says that it is offline. Nothing of the API is ever
 * cached or answered here. `bundle.ts` writes the list of files into it, and so a new build is a new worker.
 */

interface ExtendableEvent extends Event {
  waitUntil(work: Promise<unknown>): void;
}

interface FetchEvent extends ExtendableEvent {
  readonly request: Request;
  respondWith(answer: Promise<Response>): void;
}

/** The part of `ServiceWorkerGlobalScope` that is used; the DOM library types `self` as a window. */
interface WorkerScope {
  readonly location: { readonly origin: string };
  readonly clients: { claim(): Promise<void> };
  skipWaiting(): Promise<void>;
  addEventListener(type: "install" | "activate", listener: (event: ExtendableEvent) => void): void;
  addEventListener(type: "fetch", listener: (event: FetchEvent) => void): void;
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
