/**
 * One call at an MCP server: its time limit, and what the server wants of a person meanwhile (a form, or an address to open). The protocol does
 * not say which call a question belongs to, so one is only put while exactly one call runs there; otherwise it is declined. A question ends
 * with its call, with its server, and when the server takes it back. Proven by `mcp_test.ts` and `elicitation_calls_test.ts`.
 */
import type { Clock } from "../../../lib/clock.ts";
import { checkForm, contentOfText, type FieldValue } from "../../../lib/form_field.ts";
import type { QuestionAnswered } from "../../protocol/approval.ts";
import type { Question, RunIo } from "../tool.ts";
import { fieldsOf, Form, Link, textOf } from "./elicitation.ts";
import { type LinksDone, openLink } from "./links.ts";

const MAX_TRIES = 3;

/** What a server is answered. */
export interface FormAnswer {
  readonly [key: string]: unknown;
  readonly action: "accept" | "decline" | "cancel";
  readonly content?: Record<string, FieldValue>;
}

/** Who is told to ask. */
export interface Asker {
  /** The server's configured name. */
  readonly server: string;
  readonly sandboxed: boolean;
}

/** One call with its time limit, which stands still while a person is asked. */
export class RunningCall {
  readonly #limit = new AbortController();
  readonly #over = new AbortController();
  #cancel = () => {};
  /** Questions that are put or about to be: a server may send a second one, which is refused, while a person has the first. */
  #asking = 0;

  constructor(
    readonly tool: string,
    private readonly io: Pick<RunIo, "signal" | "ask">,
    private readonly timeoutMs: number,
    private readonly clock: Clock,
  ) {
    this.#resume();
  }

  get signal(): AbortSignal {
    return AbortSignal.any([this.io.signal, this.#limit.signal]);
  }

  /** Asks a person; rejects when the call has ended or `until` aborts. */
  async ask(question: Question, until: AbortSignal): Promise<QuestionAnswered> {
    this.#cancel();
    this.#asking++;
    try {
      return await this.io.ask(question, AbortSignal.any([this.#over.signal, until]));
    } finally {
      if (--this.#asking === 0) this.#resume();
    }
  }

  /** No limit is watched any more, and nothing is asked. */
  end(): void {
    this.#cancel();
    this.#over.abort(new Error("The call at the MCP server has ended."));
  }

  #resume(): void {
    if (this.#over.signal.aborted) return;
    const late = new Error(`The MCP server did not answer within ${this.timeoutMs / 1_000} s`);
    this.#cancel = this.clock.after(this.timeoutMs, () => this.#limit.abort(late));
  }
}

/** The answer to what a server asks: what the one running call's person says, or a refusal. */
export async function elicit(
  asker: Asker,
  running: ReadonlySet<RunningCall>,
  params: unknown,
  { until, links }: { readonly until: AbortSignal; readonly links: LinksDone },
): Promise<FormAnswer> {
  const [call, ...others] = running;
  if (!call || others.length > 0) return { action: "decline" };
  const link = Link.safeParse(params);
  if (link.success) {
    return await openLink(asker, call, link.data, { until, done: links.signalOf(link.data.elicitationId) });
  }
  const form = Form.safeParse(params);
  return form.success ? await fillForm(asker, call, form.data, until) : { action: "decline" };
}

async function fillForm(
  asker: Asker,
  call: RunningCall,
  form: Form,
  until: AbortSignal,
): Promise<FormAnswer> {
  const fields = fieldsOf(form);
  const secret = fields.some((field) => field.secret);
  let note = "";
  for (let attempt = 0; attempt < MAX_TRIES; attempt++) {
    const message = `${note}${form.message}`;
    const { outcome, answer = "" } = await call.ask({
      question: textOf(`The MCP server "${asker.server}" asks: ${message}`, fields),
      suggestions: [],
      secret,
      asker: { ...asker, tool: call.tool },
      form: { message, fields },
    }, until);
    if (outcome !== "answered") return { action: outcome === "declined" ? "decline" : "cancel" };
    const content = checkForm(fields, contentOfText(fields, answer));
    if (content.ok) return { action: "accept", content: content.value };
    note = `(${content.error.message}.)\n\n`;
  }
  return { action: "cancel" };
}
