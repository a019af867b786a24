/**
 * Addresses that a server wants a person to open (elicitation in `url` mode): asked for while a call runs, or named by a call that the server
 * refuses until they were opened. We never fetch them. A server may say that a person is done; then nobody is asked any further.
 * Proven by `elicitation_calls_test.ts` against the protocol authors' server and one of ours.
 */
import { readWebLink } from "../../../lib/web_link.ts";
import type { QuestionAnswered } from "../../protocol/approval.ts";
import type { Outcome } from "../tool.ts";
import type { Link } from "./elicitation.ts";
import type { Asker, FormAnswer, RunningCall } from "./running_call.ts";

const MAX_KNOWN = 1_000;
/** A refused call names so many addresses at most. */
const MAX_REQUIRED = 5;

/** What the server says is done, by the id of its request; it may say so at any time. */
export class LinksDone {
  readonly #done = new Map<string, AbortController>();

  /** The server says that a person is done. */
  add(id: string): void {
    this.#of(id).abort(new Error("The server says that it is done."));
  }

  /** Aborts when the server says so. */
  signalOf(id: string): AbortSignal {
    return this.#of(id).signal;
  }

  #of(id: string): AbortController {
    const known = this.#done.get(id) ?? new AbortController();
    this.#done.set(id, known);
    const [oldest] = this.#done.keys();
    if (this.#done.size > MAX_KNOWN && oldest !== undefined) this.#done.delete(oldest);
    return known;
  }
}

/** Asks a person to open an address. One that nobody should open is declined without asking. */
export async function openLink(
  asker: Asker,
  call: RunningCall,
  { message, url }: Pick<Link, "message" | "url">,
  signals: { readonly until?: AbortSignal; readonly done: AbortSignal },
): Promise<FormAnswer> {
  const link = readWebLink(url);
  if (!link.ok) return { action: "decline" };
  const { href } = link.value;
  const question = {
    question: `The MCP server "${asker.server}" asks you to open ${href}\n\n${message}`,
    suggestions: [],
    asker: { ...asker, tool: call.tool },
    link: { message, url: href },
  };
  const until = AbortSignal.any([signals.done, ...(signals.until ? [signals.until] : [])]);
  const outcome = await unlessDone(call.ask(question, until), signals.done);
  return { action: outcome === "answered" ? "accept" : outcome === "declined" ? "decline" : "cancel" };
}

/**
 * The server refused a call until some addresses were opened: has them opened, and waits until each is done, by the server's word or the
 * person's. Undefined: the call may be tried again; else how it ends.
 */
export async function openRequired(
  asker: Asker,
  call: RunningCall,
  required: readonly Pick<Link, "message" | "url" | "elicitationId">[],
  links: LinksDone,
): Promise<Outcome | undefined> {
  for (const link of required.slice(0, MAX_REQUIRED)) {
    const done = links.signalOf(link.elicitationId);
    const { action } = await openLink(asker, call, link, { done });
    if (action === "accept" && await isFinished(asker, call, link, done)) continue;
    const text =
      `The server "${asker.server}" does not do this before somebody has opened a page, and nobody has.`;
    return { ok: false, text };
  }
  return undefined;
}

async function isFinished(
  asker: Asker,
  call: RunningCall,
  { message }: Pick<Link, "message">,
  done: AbortSignal,
): Promise<boolean> {
  if (done.aborted) return true;
  const says = `Are you done on the page that you opened? The call goes on then. It was for: ${message}`;
  const question = {
    question: `The MCP server "${asker.server}" waits. ${says}`,
    suggestions: [],
    asker: { ...asker, tool: call.tool },
    form: { message: says, fields: [] },
  };
  return await unlessDone(call.ask(question, done), done) === "answered";
}

/** A person's answer; what the server says is done meanwhile counts as one. */
async function unlessDone(
  asking: Promise<QuestionAnswered>,
  done: AbortSignal,
): Promise<QuestionAnswered["outcome"]> {
  try {
    return (await asking).outcome;
  } catch (error) {
    if (done.aborted && error === done.reason) return "answered";
    throw error;
  }
}
