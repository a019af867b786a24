/**
 * Addresses of the screens. The paths are the ones that cards in Zulip and push messages link to. A small history router: the address is the
 * state, the back button works, and a click that asks for a new tab is left to the browser. Proven by `router_test.ts`.
 */
import { type ReadonlySignal, signal } from "@preact/signals";

/** The screens about policy, in the order in which they are listed. */
export const policyPages = ["rules", "try", "bypasses", "profiles", "schedules", "gate", "audit"] as const;
export type PolicyPage = (typeof policyPages)[number];

/** Every screen with what it needs to know. */
export type Route =
  | { readonly name: "inbox"; readonly item?: string }
  | { readonly name: "conversations" }
  | { readonly name: "new_chat" }
  | { readonly name: "chat"; readonly id: string }
  | { readonly name: "actors" }
  | { readonly name: "settings" }
  | { readonly name: "people" }
  | { readonly name: "policy"; readonly page?: PolicyPage }
  | { readonly name: "rule_group"; readonly id: string }
  | { readonly name: "not_found" };

/** The screen at a path. */
export function routeOf(path: string): Route {
  const parts = path.split("/").filter((part) => part !== "").map(decoded);
  const [first, second, third] = parts;
  if (parts.length > 3 || parts.includes(undefined)) return { name: "not_found" };
  if (first === "policy") return policyRoute(second, third);
  if (third !== undefined) return { name: "not_found" };
  if (first === undefined) return { name: "inbox" };
  if (first === "inbox") return second === undefined ? { name: "inbox" } : { name: "inbox", item: second };
  if (first === "conversations") {
    if (second === undefined) return { name: "conversations" };
    return second === "new" ? { name: "new_chat" } : { name: "chat", id: second };
  }
  if (first === "settings" && second === "people") return { name: "people" };
  if (second === undefined && (first === "actors" || first === "settings")) return { name: first };
  return { name: "not_found" };
}

function policyRoute(second: string | undefined, third: string | undefined): Route {
  if (second === undefined) return { name: "policy" };
  const page = policyPages.find((known) => known === second);
  if (page === undefined) return { name: "not_found" };
  if (third === undefined) return { name: "policy", page };
  return page === "rules" ? { name: "rule_group", id: third } : { name: "not_found" };
}

/** The path of a screen; the inverse of `routeOf`. */
export function pathOf(route: Route): string {
  switch (route.name) {
    case "inbox":
      return route.item === undefined ? "/" : `/inbox/${encodeURIComponent(route.item)}`;
    case "new_chat":
      return "/conversations/new";
    case "chat":
      return `/conversations/${encodeURIComponent(route.id)}`;
    case "conversations":
    case "actors":
    case "settings":
      return `/${route.name}`;
    case "people":
      return "/settings/people";
    case "policy":
      return route.page === undefined ? "/policy" : `/policy/${route.page}`;
    case "rule_group":
      return `/policy/rules/${encodeURIComponent(route.id)}`;
    case "not_found":
      return "/";
    default:
      return route satisfies never;
  }
}

/** The part of `window` that the router uses. */
export interface RouterHost {
  readonly location: { readonly pathname: string };
  readonly history: Pick<History, "pushState" | "replaceState">;
  addEventListener(type: "popstate", listener: () => void): void;
}

/** The running router. */
export interface Router {
  readonly route: ReadonlySignal<Route>;
  go(route: Route, options?: { readonly replace?: boolean }): void;
}

/** Follows the address bar of `host`. */
export function createRouter(host: RouterHost): Router {
  const route = signal<Route>(routeOf(host.location.pathname));
  host.addEventListener("popstate", () => {
    route.value = routeOf(host.location.pathname);
  });
  return {
    route,
    go(next, { replace = false } = {}) {
      const path = pathOf(next);
      if (path !== host.location.pathname) {
        if (replace) host.history.replaceState(null, "", path);
        else host.history.pushState(null, "", path);
      }
      route.value = next;
    },
  };
}

/** Whether a click should change the screen here, rather than do what the browser does with links. */
export function isPlainClick(event: MouseEvent): boolean {
  return event.button === 0 && !event.defaultPrevented &&
    !(event.metaKey || event.ctrlKey || event.shiftKey || event.altKey);
}

function decoded(part: string): string | undefined {
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined;
  }
}
