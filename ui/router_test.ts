import assert from "node:assert/strict";
import { createRouter, isPlainClick, pathOf, type Route, routeOf } from "./router.ts";

const routes: readonly (readonly [string, Route])[] = [
  ["/", { name: "inbox" }],
  ["/inbox/0199-a", { name: "inbox", item: "0199-a" }],
  ["/conversations", { name: "conversations" }],
  ["/conversations/new", { name: "new_chat" }],
  ["/conversations/c%2F1", { name: "chat", id: "c/1" }],
  ["/actors", { name: "actors" }],
  ["/settings", { name: "settings" }],
  ["/settings/people", { name: "people" }],
  ["/policy", { name: "policy" }],
  ["/policy/audit", { name: "policy", page: "audit" }],
  ["/policy/rules/night%20shift", { name: "rule_group", id: "night shift" }],
];

for (const [path, route] of routes) {
  Deno.test(`the address ${path} is its screen's, both ways`, () => {
    assert.deepEqual(routeOf(path), route);
    assert.equal(pathOf(route), path);
  });
}

Deno.test("an address that leads nowhere says so, broken escapes included", () => {
  for (
    const path of [
      "/nowhere",
      "/actors/x",
      "/inbox/a/b",
      "/policy/x",
      "/policy/audit/1",
      "/conversations/%E0%A4%A",
    ]
  ) {
    assert.deepEqual(routeOf(path), { name: "not_found" }, path);
  }
});

Deno.test("the router writes history once a screen and follows the back button", () => {
  const pushed: string[] = [];
  let goBack = () => {};
  const location = { pathname: "/" };
  const move = (_: unknown, __: string, path?: string | URL | null) => {
    location.pathname = String(path);
    pushed.push(location.pathname);
  };
  const router = createRouter({
    location,
    history: { pushState: move, replaceState: move },
    addEventListener: (_, listener) => {
      goBack = listener;
    },
  });

  router.go({ name: "actors" });
  router.go({ name: "actors" });
  assert.deepEqual(pushed, ["/actors"]);

  location.pathname = "/inbox/i1";
  goBack();
  assert.deepEqual(router.route.value, { name: "inbox", item: "i1" });
});

Deno.test("a click that asks for a new tab is the browser's", () => {
  const plain = {
    button: 0,
    defaultPrevented: false,
    metaKey: false,
    ctrlKey: false,
    shiftKey: false,
    altKey: false,
  };
  // Only these fields of a mouse event are read.
  const isPlain = (more: object) => isPlainClick({ ...plain, ...more } as MouseEvent);

  assert.equal(isPlain({}), true);
  for (
    const more of [{ button: 1 }, { metaKey: true }, { ctrlKey: true }, { shiftKey: true }, { altKey: true }]
  ) {
    assert.equal(isPlain(more), false);
  }
});
