import assert from "node:assert/strict";
import { Histogram } from "./histogram.ts";
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

Deno.test("a histogram counts cumulatively and keeps the sum", () => {
  const histogram = new Histogram([0.1, 1]);
  for (const value of [0.05, 0.1, 0.5, 3]) histogram.observe(value);

  const text = writeMetrics([{
    name: "x_seconds",
    help: "X",
    type: "histogram",
    samples: histogram.samples(),
  }]);

  assert.equal(
    text,
    '# HELP x_seconds X\n# TYPE x_seconds histogram\nx_seconds_bucket{le="0.1"} 2\nx_seconds_bucket{le="1"} 3\n' +
      'x_seconds_bucket{le="+Inf"} 4\nx_seconds_sum 3.65\nx_seconds_count 4\n',
  );
});

Deno.test("metrics text refuses a name that Prometheus would not read", () => {
  const family = { name: "bad-name", help: "", type: "gauge" as const, samples: [{ value: 1 }] };

  assert.throws(() => writeMetrics([family]), /bad-name/);
});
