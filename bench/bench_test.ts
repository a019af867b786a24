import assert from "node:assert/strict";
import { bodyOf, Connection, load } from "./load.ts";
import { median, Samples } from "./samples.ts";
import { formatTable, round, type Row } from "./table.ts";

Deno.test("percentiles are values that were measured, and the last one is the largest", () => {
  const samples = new Samples();
  for (let value = 100; value >= 1; value--) samples.add(value);

  assert.deepEqual([samples.p50, samples.p99, samples.max], [50, 99, 100]);
  assert.equal(median([3, 1, 2]), 2);
  assert.ok(Number.isNaN(new Samples().p50));
});

Deno.test("the table shows ratios and whether a goal was met, in aligned columns", () => {
  const row: Row = {
    measure: "wake",
    case: "cold",
    subject: "callboard",
    value: 12_345.6,
    unit: "/s",
    ratios: [{ to: "floor", times: 0.8123 }],
    goals: [{ text: "≥ 1", met: false }],
  };

  const lines = formatTable([row, { ...row, case: "with a warm spare" }]).split("\n");

  assert.match(lines[2] ?? "", /12,346 \/s .* 0\.812 × floor .* NOT met: ≥ 1/);
  assert.equal(new Set(lines.map((line) => line.length)).size, 1);
});

Deno.test("numbers keep three digits", () => {
  assert.deepEqual([0.12345, 12.345, 123.4, NaN].map(round), ["0.123", "12.3", "123", "?"]);
});

Deno.test("an answer is whole when its length or its last chunk is there", () => {
  const plain = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n4";
  const chunked = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\n42\r\n";

  assert.equal(bodyOf(plain), undefined);
  assert.equal(bodyOf(`${plain}2`), "42");
  assert.equal(bodyOf(chunked), undefined);
  assert.equal(bodyOf(`${chunked}0\r\n\r\n`), "42");
});

Deno.test("load counts answers and rejects when one is no success", async () => {
  let asked = 0;
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, (request) => {
    asked++;
    return new Response("1", { status: new URL(request.url).pathname === "/bad" ? 503 : 200 });
  });
  const { port } = server.addr;

  const result = await load({ port, inFlight: 2, ms: 500, warmUpMs: 0, path: (index) => `/ask/${index}` });
  {
    using connection = await Connection.open(port);
    await assert.rejects(connection.post("/bad"), /503/);
  }
  await server.shutdown();

  assert.ok(result.latency.count > 0 && result.latency.count <= asked);
});
