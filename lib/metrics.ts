/**
 * Writes the Prometheus text exposition format, version 0.0.4. Pure. Proven by `lib/metrics_test.ts`.
 */

/** One measured value with its labels. */
export interface Sample {
  /** Only in a histogram: which of its series this is. */
  readonly suffix?: "_bucket" | "_sum" | "_count";
  readonly labels?: Readonly<Record<string, string>>;
  readonly value: number;
}

/** All samples of one metric. `name` follows Prometheus' naming: lower case, unit last, `_total` for counters. */
export interface Family {
  readonly name: string;
  readonly help: string;
  readonly type: "counter" | "gauge" | "histogram";
  readonly samples: readonly Sample[];
}

/** The content type of `writeMetrics`. */
export const METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8";

/** The families as text, in the given order; a family without samples is left out. Throws `TypeError` for an impossible name. */
export function writeMetrics(families: readonly Family[]): string {
  return families.filter((family) => family.samples.length > 0).map(writeFamily).join("");
}

function writeFamily(family: Family): string {
  checkName(family.name);
  const lines = family.samples.map((sample) =>
    `${family.name}${sample.suffix ?? ""}${writeLabels(sample.labels)} ${number(sample.value)}`
  );
  return `# HELP ${family.name} ${family.help.replaceAll("\\", "\\\\").replaceAll("\n", "\\n")}\n` +
    `# TYPE ${family.name} ${family.type}\n${lines.join("\n")}\n`;
}

function writeLabels(labels: Sample["labels"]): string {
  const pairs = Object.entries(labels ?? {}).map(([name, value]) => {
    checkName(name);
    const escaped = value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
    return `${name}="${escaped}"`;
  });
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
}

function number(value: number): string {
  if (Number.isFinite(value) || Number.isNaN(value)) return String(value);
  return value > 0 ? "+Inf" : "-Inf";
}

function checkName(name: string): void {
  if (!/^[a-zA-Z_][a-zA-Z0-9_]*$/.test(name)) {
    throw new TypeError(`'name' must be a metric or label name, received "${name}"`);
  }
}
