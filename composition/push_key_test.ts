import assert from "node:assert/strict";
import { openVapidKey, readVapidKey } from "./push_key.ts";

Deno.test("the key for push messages is made once, and only its owner may read it", async () => {
  const folder = await Deno.makeTempDir({ prefix: "callboard-key-" });
  try {
    const [first, second] = await Promise.all([openVapidKey(folder), openVapidKey(folder)]);
    const { mode } = await Deno.stat(`${folder}/vapid.json`);

    assert.deepEqual(first, second);
    assert.deepEqual(await openVapidKey(folder), first);
    assert.equal((mode ?? 0) & 0o777, 0o600);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("a file without a key is named, and its text is not", () => {
  assert.throws(
    () => readVapidKey('{"d":"secret-text"}', "VAPID_KEY"),
    ({ message }: Error) => message.includes("VAPID_KEY") && !message.includes("secret-text"),
  );
});
