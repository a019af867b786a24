/**
 * Faults that a test arms and the fake server commits, each a given number of times.
 *
 * An operation is written as in the log: `POST /messages`, `PATCH /messages/{message_id}`; `*` means any API call. Faults of one operation are used up in
 * the order in which they were armed.
 */

export type Fault =
  /** 429 with `Retry-After`; nothing is carried out. */
  | { readonly kind: "limit"; readonly retryAfterSeconds: number }
  /** A 5xx; carried out first when `stored`. `html`: nginx's page instead of JSON. */
  | { readonly kind: "fail"; readonly status: number; readonly stored: boolean; readonly html: boolean }
  /** The connection is closed without an answer; carried out first when `stored`. */
  | { readonly kind: "drop"; readonly stored: boolean }
  /** Carried out, and never answered. */
  | { readonly kind: "hang" }
  /** A refusal with this code and text; nothing is carried out. */
  | { readonly kind: "refuse"; readonly status: number; readonly code: string; readonly msg: string };

export class Faults {
  #armed: { op: string; fault: Fault; left: number }[] = [];

  arm(op: string, fault: Fault, times = 1): void {
    this.#armed.push({ op, fault, left: times });
  }

  /** Uses up the next fault for the operation. */
  take(op: string): Fault | null {
    const entry = this.#armed.find((armed) => armed.op === op || armed.op === "*");
    if (!entry) return null;
    if (--entry.left === 0) this.#armed = this.#armed.filter((armed) => armed !== entry);
    return entry.fault;
  }

  clear(): void {
    this.#armed = [];
  }
}
