/**
 * The browser's entry: hands the browser to the stores, mounts the page, keeps the clock, the title and the badge, and registers the service
 * worker. Everything with an effect outside the page is here.
 */
import { effect } from "@preact/signals";
import { render } from "preact";
import { browserAuthenticator } from "./authenticator.ts";
import { pushedItem } from "./notice.ts";
import { AppContext } from "./parts/use_app.ts";
import { pushBrowser } from "./push_browser.ts";
import { Root } from "./screens/root.tsx";
import { createApp } from "./store/app.ts";
import { strings } from "./strings.ts";

const TICK_MS = 1_000;
/** A hidden page has no stream; its title and badge may be this old. */
const HIDDEN_READ_MS = 60_000;

const fragment = location.hash;
// Neither the token nor what a notification added must stay in the address bar, the history or a screenshot.
const pushed = pushedItem(location.pathname, location.search);
if (fragment !== "" || pushed !== undefined) history.replaceState(null, "", location.pathname);

const app = createApp({
  fetch: (input, init) => fetch(input, init),
  authenticator: browserAuthenticator(),
  fragment,
  openStream: (url) => new EventSource(url),
  isOnline: () => navigator.onLine,
  after: (ms, callback) => {
    const timer = setTimeout(callback, ms);
    return () => clearTimeout(timer);
  },
  now: () => Date.now(),
  newId: () => crypto.randomUUID(),
  push: pushBrowser(),
  pushedItem: pushed,
  storage: localStorage,
  root: document.documentElement,
  location,
  history,
  addEventListener: (type, listener) => addEventListener(type, listener),
});

effect(() => {
  const count = app.inbox.badge.value;
  document.title = count === 0 ? strings.product : `(${count}) ${strings.product}`;
  // Refused where the page is not installed; the title says it all the same.
  navigator.setAppBadge?.(count).catch(() => undefined);
});
addEventListener("online", () => {
  app.live.networkChanged();
  if (app.session.state.peek() === "unreachable") void app.session.refresh();
});
// A sign-in link that is opened over a page that is there already changes nothing but the fragment.
addEventListener("hashchange", () => {
  if (app.session.offer(location.hash)) history.replaceState(null, "", location.pathname);
});
addEventListener("offline", () => app.live.networkChanged());
addEventListener("pageshow", (event) => {
  if (event instanceof PageTransitionEvent && event.persisted) app.live.networkChanged();
});
const onVisibility = () => {
  const isVisible = document.visibilityState === "visible";
  app.live.visibilityChanged(isVisible);
  if (isVisible) app.tick();
};
document.addEventListener("visibilitychange", onVisibility);
onVisibility();
setInterval(() => document.visibilityState === "visible" && app.tick(), TICK_MS);
setInterval(() => app.live.connection.peek() === "resting" && void app.inbox.load(), HIDDEN_READ_MS);
// No worker on a plain-http origin: the page works without.
navigator.serviceWorker?.register("/sw.js").catch(() => undefined);

const root = document.getElementById("app");
if (root === null) throw new TypeError("index.html: the element 'app' is missing");
render(
  <AppContext.Provider value={app}>
    <Root />
  </AppContext.Provider>,
  root,
);
await app.start();
