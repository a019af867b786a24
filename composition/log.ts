/**
 * The log of the supervisor's process: structured, by category, one line an entry, on standard error. The only importer of LogTape. Every secret
 * of the configuration is taken out of whatever is logged, wherever it came from. Proven by `log_test.ts`.
 */
import { configure, getLogger, type LogRecord, type Sink } from "@logtape/logtape";
import type { Log } from "../runtime/log.ts";
import { withoutSecrets } from "./secrets.ts";

/** How to log. */
export interface LogOptions {
  /** Values that must never appear; shorter ones than eight characters are ignored, they would blank out words. */
  readonly secrets: readonly string[];
  /** `debug` shows everything. */
  readonly level: "debug" | "info" | "warning" | "error";
  /** JSON lines for machines, or words for people. */
  readonly json: boolean;
  /** Takes one finished line. */
  readonly write: (line: string) => void;
}

/** Makes LogTape write as `options` say. */
export async function openLog(options: LogOptions): Promise<void> {
  const clean = (line: string) => withoutSecrets(line, options.secrets);
  const sink: Sink = (record) => options.write(clean(options.json ? jsonLine(record) : textLine(record)));
  await configure({
    reset: true,
    sinks: { out: sink },
    loggers: [
      { category: ["callboard"], lowestLevel: options.level, sinks: ["out"] },
      { category: ["logtape", "meta"], lowestLevel: "error", sinks: ["out"] },
    ],
  });
}

/** The log of one part of the process, for example `logOf("runtime")`. */
export function logOf(...category: string[]): Log {
  const logger = getLogger(["callboard", ...category]);
  return (level, text, facts) => {
    // LogTape reads braces in a text as placeholders; ours are fixed texts with facts beside them.
    const message = text.replaceAll("{", "{{").replaceAll("}", "}}");
    if (level === "warn") logger.warning(message, { ...facts });
    else logger[level](message, { ...facts });
  };
}

function jsonLine(record: LogRecord): string {
  return JSON.stringify({
    at: new Date(record.timestamp).toISOString(),
    level: record.level,
    category: record.category.slice(1).join("."),
    text: record.message.join(""),
    ...record.properties,
  });
}

function textLine(record: LogRecord): string {
  const time = new Date(record.timestamp).toISOString().slice(11, 19);
  const facts = Object.entries(record.properties).map(([name, value]) => ` ${name}=${show(value)}`).join("");
  return `${time} ${record.level.padEnd(7)} ${record.category.slice(1).join(".")}: ${
    record.message.join("")
  }${facts}`;
}

function show(value: unknown): string {
  const text = typeof value === "string" ? value : JSON.stringify(value) ?? String(value);
  return /\s/.test(text) ? JSON.stringify(text) : text;
}
