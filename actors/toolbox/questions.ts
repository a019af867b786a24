/**
 * What running tools ask people. A question is a pending item of approval's; the answer comes back as a message, sealed when it is a secret and
 * opened only here. Promises: one question a call at a time; whoever stops waiting, for whatever reason, withdraws the question, so no
 * card stays on that nobody hears the answer of. Questions of a process that died are withdrawn with their calls (`calls.ts`).
 * Proven by `mcp/mcp_test.ts` and `mcp/elicitation_calls_test.ts`.
 */
import { newSealKey } from "../../lib/sealed.ts";
import type { GatewayContext, Send } from "../../runtime/actor.ts";
import type { QuestionAnswered, QuestionRaise } from "../protocol/approval.ts";
import type { CallRow } from "./call_row.ts";
import type { Question } from "./tool.ts";

/** How long a secret is waited for: who is asked for one is expected to be there. Seconds. */
const SECRET_WAIT_SECONDS = 300;

type Asking = Pick<CallRow, "callId" | "turnId" | "conversation">;

/** The open questions of this process. */
export class Questions {
  readonly #asking = new Map<string, (answer: QuestionAnswered) => void>();

  constructor(private readonly context: Pick<GatewayContext, "commit" | "log">) {}

  /** Raises a question and waits; rejects with the signal's reason when nobody waits for the answer any more. */
  async ask(call: Asking, question: Question, signal: AbortSignal): Promise<QuestionAnswered> {
    const { callId } = call;
    const key = question.secret ? await newSealKey() : undefined;
    signal.throwIfAborted();
    if (this.#asking.has(callId)) throw new Error("A call can ask one question at a time");
    const answer = Promise.withResolvers<QuestionAnswered>();
    // Nobody may be waiting yet, while the question is being committed.
    answer.promise.catch(() => undefined);
    const stopped = () => answer.reject(signal.reason);
    signal.addEventListener("abort", stopped, { once: true });
    this.#asking.set(callId, answer.resolve);
    try {
      const payload = raised(call, question, key?.sealTo);
      const committed = await this.context.commit({
        send: [{ to: "approval", type: "question.raise", payload }],
      });
      if (!committed.ok) throw new Error(`The question could not be asked: ${committed.error.message}`);
      const said = await answer.promise.catch(async (reason: unknown) => {
        await this.#withdraw(callId, reasonOf(reason));
        throw reason;
      });
      return key && said.answer !== undefined ? { ...said, answer: await key.open(said.answer) } : said;
    } finally {
      this.#asking.delete(callId);
      signal.removeEventListener("abort", stopped);
    }
  }

  /** Hands an answer to the tool that waits for it; false when none does. */
  answered(answer: QuestionAnswered): boolean {
    const waiting = this.#asking.get(answer.callId);
    waiting?.(answer);
    return waiting !== undefined;
  }

  async #withdraw(callId: string, reason: string): Promise<void> {
    const committed = await this.context.commit({ send: [withdrawal(callId, reason)] });
    // A process that is being ended cannot commit; its successor withdraws the question with the call.
    if (!committed.ok) {
      this.context.log("info", "a question was not withdrawn", { callId, why: committed.error.message });
    }
  }
}

/** Tells approval that nobody waits for the answer any more. */
export function withdrawal(callId: string, reason: string, options: { unheard?: boolean } = {}): Send {
  const payload = { callId, reason: reason.slice(0, 300), ...options };
  return { to: "approval", type: "question.withdrawn", payload };
}

function raised(call: Asking, asked: Question, sealTo: QuestionRaise["sealTo"]) {
  const { callId, turnId, conversation } = call;
  const { question, suggestions, asker, form, link } = asked;
  return {
    callId,
    turnId,
    conversation,
    kind: "elicitation",
    question,
    suggestions: [...suggestions],
    ...(sealTo && { sealTo, expiresInSeconds: SECRET_WAIT_SECONDS }),
    ...(asker && { asker }),
    ...(form && { form }),
    ...(link && { link }),
  };
}

function reasonOf(reason: unknown): string {
  return reason instanceof Error ? reason.message : String(reason);
}
