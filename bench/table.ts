/**
 * The one table that a run prints: what was measured, what came out, how that compares with the floor or peer of the same run, and the goal.
 * Pure. Proven by `bench_test.ts`.
 */

/** A comparison with something measured in the same run: how many times as good; above 1 is better. */
export interface Ratio {
  readonly to: string;
  readonly times: number;
}

/** A promise in numbers, and whether this run kept it. */
export interface Goal {
  readonly text: string;
  readonly met: boolean;
}

/** One line of the table. */
export interface Row {
  readonly measure: string;
  readonly subject: string;
  readonly case: string;
  readonly value: number;
  readonly unit: string;
  /** Percentiles and other facts, in words. */
  readonly detail?: string;
  readonly ratios?: readonly Ratio[];
  readonly goals?: readonly Goal[];
}

const HEAD = ["measure", "case", "subject", "result", "detail", "ratio", "goal"];

/** The rows as a Markdown table with aligned columns. */
export function formatTable(rows: readonly Row[]): string {
  const lines = [HEAD, ...rows.map(cells)];
  const widths = HEAD.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  const draw = (line: readonly string[]) =>
    `| ${line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(" | ")} |`;
  const rule = `|${widths.map((width) => "-".repeat(width + 2)).join("|")}|`;
  return [draw(HEAD), rule, ...lines.slice(1).map(draw)].join("\n");
}

function cells(row: Row): string[] {
  return [
    row.measure,
    row.case,
    row.subject,
    `${round(row.value)} ${row.unit}`,
    row.detail ?? "",
    (row.ratios ?? []).map(({ to, times }) => `${round(times)} × ${to}`).join(", "),
    (row.goals ?? []).map(({ text, met }) => `${met ? "met" : "NOT met"}: ${text}`).join("; "),
  ];
}

/** Three significant digits, and no decimals from 100 on. */
export function round(value: number): string {
  if (!Number.isFinite(value)) return "?";
  return Math.abs(value) >= 100 ? Math.round(value).toLocaleString("en") : String(+value.toPrecision(3));
}
