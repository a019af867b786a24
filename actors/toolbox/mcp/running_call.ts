/**
 * One call at an MCP server: its time limit, and the forms that the server wants a person to fill in meanwhile. The protocol does not say
 * which call a form belongs to, so one is only shown while exactly one call runs there; otherwise it is declined. Proven by `mcp_test.ts`.
 */
import type { Clock } from "../../../lib/clock.ts";
import type { RunIo } from "../tool.ts";
import { contentOf, fieldsOf, type FieldValue, Form, questionOf } from "./elicitation.ts";

const MAX_TRIES = 3;

/** What a server is answered. */
export interface FormAnswer {
  readonly [key: string]: unknown;
  readonly action: "accept" | "decline" | "cancel";
  readonly content?: Record<string, FieldValue>;
}

/** One call with its time limit, which stands still while a person is asked. */
export class RunningCall {
  readonly #limit = new AbortController();
  #cancel = () => {};
  #ended = false;

  constructor(
    private readonly io: Pick<RunIo, "signal" | "ask">,
    private readonly timeoutMs: number,
    private readonly clock: Clock,
  ) {
    this.#resume();
  }

  get signal(): AbortSignal {
    return AbortSignal.any([this.io.signal, this.#limit.signal]);
  }

  async ask(question: Parameters<RunIo["ask"]>[0]) {
    this.#cancel();
    try {
      return await this.io.ask(question);
    } finally {
      this.#resume();
    }
  }

  /** No limit is watched any more. */
  end(): void {
    this.#ended = true;
    this.#cancel();
  }

  #resume(): void {
    if (this.#ended) return;
    const late = new Error(`The MCP server did not answer within ${this.timeoutMs / 1_000} s`);
    this.#cancel = this.clock.after(this.timeoutMs, () => this.#limit.abort(late));
  }
}

/** The answer to a server's form: what the one running call's person says, or a refusal. */
export async function elicit(
  server: string,
  running: ReadonlySet<RunningCall>,
  params: unknown,
): Promise<FormAnswer> {
  const [call, ...others] = running;
  const form = Form.safeParse(params);
  if (!call || others.length > 0 || !form.success) return { action: "decline" };
  const fields = fieldsOf(form.data);
  let note = "";
  for (let attempt = 0; attempt < MAX_TRIES; attempt++) {
    const { question, suggestions } = questionOf(
      `${note}The MCP server "${server}" asks: ${form.data.message}`,
      fields,
    );
    const secret = fields.some((field) => field.secret);
    const { outcome, answer = "" } = await call.ask({ question, suggestions, secret });
    if (outcome !== "answered") return { action: outcome === "declined" ? "decline" : "cancel" };
    const content = contentOf(fields, answer);
    if (content.ok) return { action: "accept", content: content.value };
    note = `(${content.error.message})\n\n`;
  }
  return { action: "cancel" };
}
