import assert from "node:assert/strict";
import { writeMetrics } from "./metrics.ts";

Deno.test("metrics text escapes labels and help, and leaves empty families out", () => {
  const text = writeMetrics([
    {
      name: "callboard_items",
      help: "Items\nby state \\",
      type: "gauge",
      samples: [{ labels: { state: 'a"b\\c\nd' }, value: 2 }, { value: Infinity }, { value: NaN }],
    },
    { name: "callboard_none_total", help: "None", type: "counter", samples: [] },
  ]);

  assert.equal(
    text,
    "# HELP callboard_items Items\\nby state \\\\\n# TYPE callboard_items gauge\n" +
      'callboard_items{state="a\\"b\\\\c\\nd"} 2\ncallboard_items +Inf\ncallboard_items NaN\n',
  );
});

Deno.test("metrics text refuses a name that Prometheus would not read", () => {
  const family = { name: "bad-name", help: "", type: "gauge" as const, samples: [{ value: 1 }] };

  assert.throws(() => writeMetrics([family]), /bad-name/);
});
