/** Proves whom attempts are counted for, with and without a proxy in front. */
import assert from "node:assert/strict";
import { OWNER_TOKEN, withBench } from "../tests/doubles/edge_bench.ts";
import { countedAs } from "./peer.ts";

Deno.test.each([
  ["an address", "192.0.2.1", undefined, false, "192.0.2.1"],
  ["a header where no proxy is", "127.0.0.1", "192.0.2.9", false, "127.0.0.1"],
  ["a header that does not come from a neighbour", "192.0.2.1", "192.0.2.9", true, "192.0.2.1"],
  ["what the proxy here was called from", "127.0.0.1", "192.0.2.9", true, "192.0.2.9"],
  ["the same of a proxy in a container", "172.17.0.1", "192.0.2.9", true, "192.0.2.9"],
  ["what the proxy wrote, not what it was sent", "127.0.0.1", "198.51.100.7, 192.0.2.9", true, "192.0.2.9"],
  ["a tunnel that writes no header", "127.0.0.1", undefined, true, "127.0.0.1"],
  ["a header of nonsense", "127.0.0.1", "x".repeat(9_000), true, "127.0.0.1"],
  ["an IPv6 customer", "2001:db8:1:2:3:4:5:6", undefined, false, "2001:db8:1:2::/64"],
  ["an IPv6 customer, shortened", "::1", "2001:db8::9", true, "2001:db8:0:0::/64"],
  ["an IPv4 address in IPv6", "::ffff:127.0.0.1", "::ffff:192.0.2.9", true, "192.0.2.9"],
  ["nothing", undefined, "192.0.2.9", true, "unknown"],
])("attempts are counted for $0", (_what, peer, forwardedFor, isProxied, counted) => {
  assert.equal(countedAs({ peer, forwardedFor, isProxied }), counted);
});

Deno.test("behind a proxy a stranger's attempts do not keep the owner out", () =>
  withBench(async (bench) => {
    const attempt = async (token: string, forwardedFor: string) => {
      const headers = {
        "content-type": "application/json",
        host: "board.example.org",
        "x-forwarded-for": forwardedFor,
      };
      const body = JSON.stringify({ token });
      const request = new Request("https://board.example.org/api/session", { method: "POST", headers, body });
      return (await bench.app.fetch(request, "127.0.0.1")).status;
    };

    const strange = new Set<number>();
    for (let n = 0; n < 12; n++) strange.add(await attempt("w".repeat(40), "198.51.100.7"));

    assert.deepEqual([...strange], [401, 429]);
    assert.equal(await attempt(OWNER_TOKEN, "192.0.2.9"), 201);
  }, { config: { publicUrl: "https://board.example.org" } }));
