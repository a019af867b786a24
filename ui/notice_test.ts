import assert from "node:assert/strict";
import { routeOf } from "./router.ts";
import { noticeOf, pushedItem } from "./notice.ts";

const waiting = { v: 1, about: "waiting", itemId: "i 1", tool: "exec_command", conversation: "Deploy" };

Deno.test("an item has one notification, which says when it is over without a sound, and opens the item", () => {
  const asked = noticeOf(JSON.stringify(waiting));
  const over = noticeOf(JSON.stringify({ ...waiting, about: "settled" }));
  const url = new URL(asked.options.data.path, "https://board.example.org");

  assert.deepEqual([asked.title, asked.options.body], ["Waiting for you: exec_command", "Deploy"]);
  assert.equal(over.title, "Waits no more: exec_command");
  assert.equal(asked.options.tag, over.options.tag);
  assert.deepEqual([asked.options.silent, over.options.silent], [false, true]);
  assert.deepEqual(routeOf(url.pathname), { name: "inbox", item: "i 1" });
  assert.equal(pushedItem(url.pathname, url.search), "i 1");
});

Deno.test("a message that cannot be read is shown all the same", () => {
  assert.equal(noticeOf("").title, "Something waits in your inbox");
  assert.equal(noticeOf('{"v":2}').options.data.path, "/");
});

Deno.test("only what a notification opened counts as opened by one", () => {
  assert.equal(pushedItem("/inbox/i1", ""), undefined);
  assert.equal(pushedItem("/settings", "?pushed"), undefined);
});
