/**
 * Reads the JUnit report that `deno test` writes. A test tried twice stands there once, its steps once a try: the last one counts.
 */
export interface Report {
  readonly passed: number;
  readonly skipped: number;
  readonly failures: readonly Failure[];
}

export interface Failure {
  readonly file: string;
  readonly name: string;
  /** The error's first lines, at most {@link ERROR_LINES}. */
  readonly error: string;
}

const ERROR_LINES = 15;

export function readReport(xml: string): Report {
  const last = new Map<string, { failure?: Failure; skipped: boolean }>();
  for (
    const [, attributes = "", body = ""] of xml.matchAll(/<testcase ([^>]*?)(?:\/>|>(.*?)<\/testcase>)/gs)
  ) {
    const file = attribute(attributes, "classname");
    const name = attribute(attributes, "name");
    const error = /<(?:failure|error)\b[^>]*>(.*?)<\/(?:failure|error)>/s.exec(body)?.[1];
    last.set(`${file}\n${name}`, {
      skipped: body.includes("<skipped"),
      ...(error === undefined ? {} : { failure: { file, name, error: firstLines(unescape(error)) } }),
    });
  }
  const all = [...last.values()];
  const failures = all.flatMap(({ failure }) => failure ?? []);
  const skipped = all.filter((one) => one.skipped).length;
  return { passed: all.length - failures.length - skipped, skipped, failures };
}

function attribute(text: string, name: string): string {
  return unescape(new RegExp(`\\b${name}="([^"]*)"`).exec(text)?.[1] ?? "");
}

function firstLines(text: string): string {
  return text.split("\n").slice(0, ERROR_LINES).join("\n");
}

function unescape(text: string): string {
  const names: Record<string, string> = { lt: "<", gt: ">", quot: '"', apos: "'", amp: "&" };
  return text.replace(/&(\w+);/g, (whole, name: string) => names[name] ?? whole);
}
