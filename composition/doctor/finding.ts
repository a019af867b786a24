/** What a check found: `ok`, `warn` for what works worse than it could, `bad` for what must be put right before a start. */
export interface Finding {
  readonly level: "ok" | "warn" | "bad";
  /** What was looked at, a word or two. */
  readonly subject: string;
  /** What is so, and if it is not well, what to do. */
  readonly text: string;
}

/** Makes the findings of one subject. */
export function findingsOf(subject: string) {
  return {
    ok: (text: string): Finding => ({ level: "ok", subject, text }),
    warn: (text: string): Finding => ({ level: "warn", subject, text }),
    bad: (text: string): Finding => ({ level: "bad", subject, text }),
  };
}

/** An error's own words. */
export function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
