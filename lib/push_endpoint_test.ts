import assert from "node:assert/strict";
import { isPushEndpoint } from "./push_endpoint.ts";

Deno.test("a push address is one of a browser's own service, over https, and nothing else", () => {
  const good = [
    "https://fcm.googleapis.com/fcm/send/abc",
    "https://updates.push.services.mozilla.com/wpush/v2/abc",
    "https://web.push.apple.com/abc",
    "https://wns2-par02p.notify.windows.com/w/?token=abc",
  ];
  const bad = [
    "http://fcm.googleapis.com/fcm/send/abc",
    "https://fcm.googleapis.com:8443/abc",
    "https://fcm.googleapis.com.example.org/abc",
    "https://user:word@fcm.googleapis.com/abc",
    "https://push.apple.com.example.org/abc",
    "https://evilpush.apple.com/abc",
    "https://127.0.0.1/abc",
    "https://169.254.169.254/latest",
    "http://localhost:8787/api",
    "file:///etc/passwd",
    "https://web.push.apple.com/" + "a".repeat(1_000),
    "no address",
  ];

  for (const endpoint of good) assert.equal(isPushEndpoint(endpoint), true, endpoint);
  for (const endpoint of bad) assert.equal(isPushEndpoint(endpoint), false, endpoint);
});

Deno.test("the service for tests is one exact origin, and only where it is named", () => {
  const endpoint = "http://127.0.0.1:4000/push/1";

  assert.equal(isPushEndpoint(endpoint, "http://127.0.0.1:4000"), true);
  assert.equal(isPushEndpoint(endpoint, "http://127.0.0.1:4001"), false);
  assert.equal(isPushEndpoint(endpoint), false);
});
