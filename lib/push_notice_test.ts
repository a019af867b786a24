import assert from "node:assert/strict";
import { type PushNotice, readNotice } from "./push_notice.ts";

Deno.test("a notice is read as it was written, and one of another version is not read", () => {
  const notice: PushNotice = {
    v: 1,
    about: "waiting",
    itemId: "i1",
    tool: "exec_command",
    conversation: "Deploy",
  };

  assert.deepEqual(readNotice(JSON.stringify(notice)), notice);
  for (
    const text of [
      "",
      "null",
      "[]",
      '"x"',
      '{"v":2,"about":"test"}',
      '{"v":1,"about":"x"}',
      '{"v":1,"about":"waiting"}',
    ]
  ) {
    assert.equal(readNotice(text), undefined, text);
  }
});
