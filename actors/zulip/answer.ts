/**
 * An answer in a topic: streamed by editing, ended exactly once. The first message of a turn is posted when there is something to read (a
 * push notification carries only what a message was created with); until then a reaction and the typing notice show that the bot is at work.
 * If a card or another message of ours came below the streamed text, the final answer is posted anew under it and the streamed one is
 * taken away, so that a reader finds the end of the conversation at its end. Everything is keyed by turn and part, so that a repeated
 * `topic.answer` finds what stands there and finishes it. Proven by `answer_test.ts` and the end-to-end tests.
 */
import { type Clock, sleep } from "../../lib/clock.ts";
import type { Committed, Effects } from "../../runtime/actor.ts";
import type { Op } from "../../store/ops.ts";
import type { Target, ZulipClient } from "../../zulip/client.ts";
import { ZulipError } from "../../zulip/errors.ts";
import { guardCommand } from "../../zulip/markdown.ts";
import { silenceWildcards } from "../../zulip/mention.ts";
import { splitTranscript } from "../../zulip/splitter.ts";
import type { TopicAnswer, TopicProgress } from "../protocol/zulip.ts";
import type { EditBudget } from "./edit_budget.ts";
import type { Journal } from "./journal.ts";
import type { Poster } from "./poster.ts";

/** What the answers work with. */
export interface AnswerDeps {
  readonly client: Pick<
    ZulipClient,
    "editMessage" | "deleteMessage" | "addReaction" | "removeReaction" | "setTyping"
  >;
  readonly poster: Pick<Poster, "post" | "find">;
  journal(): Pick<Journal, "targetOf" | "lastOwnId" | "own">;
  readonly clock: Clock;
  readonly editIntervalMs: number;
  readonly budget: Pick<EditBudget, "take">;
  readonly signal: AbortSignal;
  commit(effects: Effects): Promise<Committed>;
  log(level: "info" | "warn" | "error", text: string, facts?: Readonly<Record<string, unknown>>): void;
}

type Group = "answer" | "final";

interface Place {
  readonly conversation: string;
  readonly target: Target;
  readonly stream: Streaming;
}

interface Part {
  readonly part: number;
  readonly body: string;
  readonly group: Group;
  readonly final: boolean;
}

interface Streaming {
  readonly turnId: string;
  version: number;
  /** Bodies as they were last sent, by part; absent while nothing was posted. */
  readonly shown: Map<number, { readonly messageId: number; body: string }>;
  acked: boolean;
  nextEditAt: number;
  nextTypingAt: number;
}

/** A notification shows the beginning of a message: do not create one for two words. */
const LEAST_FIRST_CHARACTERS = 40;
const TYPING_REFRESH_MS = 10_000;
const LIVE_SUFFIX = "\n\n*(…)*";
const ACK = { name: "eyes" } as const;

/** Shows answers; calls for one conversation must not overlap. */
export class Answers {
  readonly #deps: AnswerDeps;
  readonly #streams = new Map<string, Streaming>();

  constructor(deps: AnswerDeps) {
    this.#deps = deps;
  }

  /** Shows how far the answer is. Best effort: whatever fails here, the final answer makes good. */
  async progress(conversation: string, progress: TopicProgress): Promise<void> {
    const target = this.#deps.journal().targetOf(conversation);
    if (!target) return;
    const stream = this.#stream(conversation, progress);
    if (!stream || progress.version < stream.version) return;
    stream.version = progress.version;
    const now = this.#deps.clock.monotonic();
    if (!stream.acked && progress.triggerId !== undefined) {
      stream.acked = true;
      await this.#quietly("acknowledge", () => this.#deps.client.addReaction(progress.triggerId ?? 0, ACK));
    }
    if (progress.text.trim().length < LEAST_FIRST_CHARACTERS && stream.shown.size === 0) {
      if (now < stream.nextTypingAt || !this.#deps.budget.take()) return;
      stream.nextTypingAt = now + TYPING_REFRESH_MS;
      await this.#quietly("typing notice", () => this.#deps.client.setTyping("start", target));
      return;
    }
    if (now < stream.nextEditAt || !this.#deps.budget.take()) return;
    stream.nextEditAt = now + this.#deps.editIntervalMs;
    const pieces = splitTranscript(clean(progress.text));
    for (const [part, piece] of pieces.entries()) {
      const fence = piece.openFence === null ? "" : `\n${piece.openFence}`;
      const body = piece.sealed ? piece.body : piece.body + fence + LIVE_SUFFIX;
      await this.#show({ conversation, target, stream }, { part, body, group: "answer", final: false });
    }
  }

  /** Brings the final answer to stand in the topic, once. */
  async finish(conversation: string, answer: TopicAnswer): Promise<void> {
    const target = this.#deps.journal().targetOf(conversation);
    if (!target) return;
    const stream = this.#stream(conversation, answer) ?? fresh(answer.turnId);
    const text = clean(answer.footer ? `${answer.text}\n\n*${answer.footer}*` : answer.text);
    if (answer.silent || text.trim() === "") await this.#removeParts(answer.turnId, "answer");
    else await this.#settleText(conversation, target, stream, text);
    if (answer.triggerId !== undefined) {
      const messageId = answer.triggerId;
      await this.#quietly(
        "take back the acknowledgement",
        () => this.#deps.client.removeReaction(messageId, ACK),
      );
    }
    this.#streams.delete(conversation);
  }

  async #settleText(conversation: string, target: Target, stream: Streaming, text: string): Promise<void> {
    const bodies = splitTranscript(text).map((piece) => piece.body);
    const place = { conversation, target, stream };
    if (!await this.#movedBelow(conversation, stream.turnId)) {
      if (await this.#showAll(place, bodies, "answer")) {
        return await this.#removeParts(stream.turnId, "answer", bodies.length);
      }
    }
    stream.shown.clear();
    await this.#showAll(place, bodies, "final");
    await this.#removeParts(stream.turnId, "answer");
  }

  /** Whether the final text belongs into new messages: it was begun there, or something of ours stands below the streamed one. */
  async #movedBelow(conversation: string, turnId: string): Promise<boolean> {
    if (await this.#deps.poster.find(`final/${turnId}/0`)) return true;
    const streamed = await this.#lastPart(turnId);
    return streamed !== null && this.#deps.journal().lastOwnId(conversation) > streamed;
  }

  /** Makes every part stand with its final body; false when one can no longer be edited. */
  async #showAll(place: Place, bodies: readonly string[], group: Group): Promise<boolean> {
    for (const [part, body] of bodies.entries()) {
      if (!await this.#show(place, { part, body, group, final: true })) return false;
    }
    return true;
  }

  /** The newest message that the streamed answer has, or null. */
  async #lastPart(turnId: string): Promise<number | null> {
    let newest: number | null = null;
    for (let part = 0;; part++) {
      const row = await this.#deps.poster.find(`answer/${turnId}/${part}`);
      if (!row) return newest;
      newest = row.messageId ?? newest;
    }
  }

  /** Posts a part that does not stand yet, or edits it to `body`; false when Zulip lets it be edited no more. */
  async #show(place: Place, { part, body, group, final }: Part): Promise<boolean> {
    const { conversation, target, stream } = place;
    let shown = stream.shown.get(part);
    if (!shown) {
      const posting = await this.#deps.poster.post({
        key: `${group}/${stream.turnId}/${part}`,
        conversation,
        target,
        body,
      });
      if (!posting.ok) return true;
      this.#deps.journal().own(conversation, posting.messageId);
      // What an earlier incarnation posted may be any older text.
      shown = { messageId: posting.messageId, body: posting.fresh ? body : "" };
      stream.shown.set(part, shown);
    }
    if (shown.body === body) return true;
    const edited = await this.#edit(shown.messageId, body, final);
    if (edited) shown.body = body;
    return edited;
  }

  /** False when Zulip no longer lets this message be edited. Waits out rate limits and outages only when the text is final. */
  async #edit(messageId: number, body: string, insist: boolean): Promise<boolean> {
    for (let tries = 0;; tries++) {
      try {
        await this.#deps.client.editMessage(messageId, body);
        return true;
      } catch (error) {
        if (!(error instanceof ZulipError)) throw error;
        const { failure } = error;
        if (failure.kind === "bad_request") return false;
        if (!insist) return true;
        const waitMs = failure.kind === "rate_limited"
          ? failure.retryAfterMs
          : Math.min(30_000, 500 * 2 ** Math.min(tries, 6));
        await sleep(this.#deps.clock, waitMs, this.#deps.signal);
      }
    }
  }

  async #removeParts(turnId: string, group: Group, from = 0): Promise<void> {
    for (let part = from;; part++) {
      const row = await this.#deps.poster.find(`${group}/${turnId}/${part}`);
      if (!row) return;
      if (row.messageId === null || row.state !== "posted") continue;
      const messageId = row.messageId;
      const gone = await this.#quietly(
        "remove a replaced message",
        () => this.#deps.client.deleteMessage(messageId),
      );
      // A bot that may not delete leaves a pointer instead of a second answer.
      if (!gone) await this.#edit(messageId, "*(the answer follows below)*", true);
      const deleted: Op = { op: "post.deleted", localId: row.localId };
      await this.#deps.commit({ ops: [deleted] });
    }
  }

  #stream(conversation: string, of: { readonly turnId: string }): Streaming | undefined {
    const current = this.#streams.get(conversation);
    if (current?.turnId === of.turnId) return current;
    if (current && current.turnId > of.turnId) return undefined;
    const fresh = {
      turnId: of.turnId,
      version: 0,
      shown: new Map(),
      acked: false,
      nextEditAt: 0,
      nextTypingAt: 0,
    };
    this.#streams.set(conversation, fresh);
    return fresh;
  }

  async #quietly(what: string, call: () => Promise<void>): Promise<boolean> {
    try {
      await call();
      return true;
    } catch (error) {
      if (!(error instanceof ZulipError)) throw error;
      this.#deps.log("info", `could not ${what}`, { cause: error.message });
      return false;
    }
  }
}

function fresh(turnId: string): Streaming {
  return { turnId, version: 0, shown: new Map(), acked: false, nextEditAt: 0, nextTypingAt: 0 };
}

/** Text from a model must not become a widget or call a whole channel. */
function clean(text: string): string {
  return guardCommand(silenceWildcards(text));
}
