/**
 * Posting exactly once, as far as Zulip allows: an intent row before the POST, and after a lost answer a look before anything is sent
 * again. At most one unsettled post per conversation. What is posted under a key is posted once, for ever, however often it is asked for.
 * The intent row is this gateway's `started`; it survives the process. Proven by `answer_test.ts` and the end-to-end tests.
 */
import { type Clock, sleep } from "../../lib/clock.ts";
import type { Committed, Effects, Send } from "../../runtime/actor.ts";
import type { Op } from "../../store/ops.ts";
import type { PostRow } from "../../store/reads/zulip.ts";
import type { Target, ZulipClient } from "../../zulip/client.ts";
import { ZulipError } from "../../zulip/errors.ts";
import { bodyHash, serverBody } from "../../zulip/server_body.ts";
import { findOwn } from "./settle.ts";

/** What the poster works with. */
export interface PosterDeps {
  readonly client: Pick<ZulipClient, "sendMessage" | "getMessages" | "deleteMessage">;
  readonly clock: Clock;
  readonly settleAfterMs: number;
  readonly signal: AbortSignal;
  readonly newId: () => string;
  /** Our own user id. */
  botId(): number;
  /** The queue that echoes our posts, when there is one. */
  queueId(): string | null;
  /** Newest message id that anything has shown us. */
  newestId(): number;
  maxMessageLength(): number;
  /** The form that belongs to a body, as Zulip's `widget_content`. */
  widgetOf(row: { readonly key: string; readonly body: string }): string | undefined;
  mayAct(): boolean;
  commit(effects: Effects): Promise<Committed>;
  read(name: string, input: unknown): Promise<unknown>;
  log(level: "info" | "warn" | "error", text: string, facts?: Readonly<Record<string, unknown>>): void;
}

/** What became of a post. `fresh`: it stands with exactly the body that was asked for. `refused`: Zulip will not have it (no such channel, no right to post); it is not tried again. */
export type Posting =
  | { readonly ok: true; readonly messageId: number; readonly fresh: boolean }
  | { readonly ok: false; readonly why: "refused" | "deleted" };

/** What to post. */
export interface Post {
  readonly key: string;
  readonly conversation: string;
  readonly target: Target;
  readonly body: string;
}

/** Makes posts; calls for one conversation must not overlap (the gateway's lanes see to that). */
export class Poster {
  readonly #deps: PosterDeps;
  /** Own messages by local id, as the queue echoed them. */
  readonly #echoes = new Map<string, number>();
  readonly #awaited = new Map<string, () => void>();

  constructor(deps: PosterDeps) {
    this.#deps = deps;
  }

  /** The queue showed a message of ours. A second message for one local id is a late arrival of a POST that was sent again: it goes. */
  async echoed(localId: string, messageId: number): Promise<void> {
    const first = this.#echoes.get(localId);
    if (first === undefined) {
      this.#echoes.set(localId, messageId);
      if (this.#echoes.size > 2_000) this.#echoes.delete(this.#echoes.keys().next().value ?? "");
      this.#awaited.get(localId)?.();
    }
    const row = await this.named(localId);
    const kept = row?.messageId ?? first;
    if (kept === undefined || kept === messageId) return;
    this.#deps.log("warn", "deleting the late twin of a post", { messageId, kept });
    await this.#deps.client.deleteMessage(messageId).catch((error: unknown) =>
      this.#deps.log("error", "the late twin of a post could not be deleted", {
        messageId,
        cause: String(error),
      })
    );
  }

  /** Posts once under its key, or finds that it was posted. Returns when the outcome is on disk. */
  async post(post: Post): Promise<Posting> {
    const known = await this.#row("post.by_key", { key: post.key });
    if (known?.state === "intent") {
      const settled = await this.#settle(known);
      // It stands with the body that was intended then.
      return settled.ok ? { ...settled, fresh: false } : settled;
    }
    if (known) return outcomeOf(known);
    const open = await this.#row("post.open", { conversation: post.conversation });
    if (open) await this.#settle(open);
    return await this.#begin(post);
  }

  /** The row of a post by its local id. */
  async named(localId: string): Promise<PostRow | null> {
    return await this.#row("post.by_local_id", { localId });
  }

  /** The row of the post that became this message. */
  async at(messageId: number): Promise<PostRow | null> {
    return await this.#row("post.by_message", { messageId });
  }

  /** The row of a key, whatever its state. */
  async find(key: string): Promise<PostRow | null> {
    return await this.#row("post.by_key", { key });
  }

  /** The standing buttons of an item, of every version. */
  async buttonsOf(itemId: string): Promise<readonly PostRow[]> {
    // `store/reads/zulip.ts` declares this read's answer.
    return await this.#deps.read("post.buttons", { itemId }) as readonly PostRow[];
  }

  async #begin({ key, conversation, target, body }: Post): Promise<Posting> {
    const stored = serverBody(body, this.#deps.maxMessageLength());
    if (!stored.ok) return { ok: false, why: "refused" };
    const row: PostRow = {
      localId: this.#deps.newId(),
      conversation,
      key,
      target: JSON.stringify(target),
      body: stored.body,
      bodyHash: await bodyHash(stored.body),
      queueId: this.#deps.queueId(),
      afterId: Math.max(0, this.#deps.newestId()),
      state: "intent",
      messageId: null,
      sentAt: this.#deps.clock.now(),
    };
    const { state: _state, messageId: _messageId, sentAt: _sentAt, ...intent } = row;
    await this.#must({ op: "post.intent", ...intent });
    return await this.#send(row);
  }

  async #send(row: PostRow): Promise<Posting> {
    for (;;) {
      await this.#whileFenced();
      // One that was given up may be shown while the next is being prepared.
      const echoed = this.#echoes.get(row.localId);
      if (echoed !== undefined) return await this.#adopt(row, echoed);
      const widgetContent = this.#deps.widgetOf(row);
      try {
        const posting = this.#deps.client.sendMessage({
          // Our own row, written by #begin.
          to: JSON.parse(row.target) as Target,
          content: row.body,
          localId: row.localId,
          ...(row.queueId === null ? {} : { queueId: row.queueId }),
          ...(widgetContent === undefined ? {} : { widgetContent }),
        });
        return await this.#adopt(row, await this.#answerOrEcho(row.localId, posting));
      } catch (error) {
        if (!(error instanceof ZulipError)) throw error;
        if (error.outcomeUnknown) return await this.#settle(row);
        if (error.failure.kind === "rate_limited") await this.#wait(error.failure.retryAfterMs);
        else if (error.failure.kind === "unauthorized") throw error;
        else {
          this.#deps.log("error", "Zulip refused a post", { key: row.key, cause: error.message });
          await this.#must({ op: "post.failed", localId: row.localId });
          return { ok: false, why: "refused" };
        }
      }
    }
  }

  /** The message's id from the call's answer, or from the queue's echo when that is first: an answer may be long in coming or lost. */
  async #answerOrEcho(localId: string, posting: Promise<{ readonly id: number }>): Promise<number> {
    const echo = Promise.withResolvers<number>();
    this.#awaited.set(localId, () => {
      const id = this.#echoes.get(localId);
      if (id !== undefined) echo.resolve(id);
    });
    try {
      return await Promise.race([posting.then(({ id }) => id), echo.promise]);
    } finally {
      this.#awaited.delete(localId);
      // When the echo was first, how the call ends no longer matters.
      posting.catch(() => undefined);
    }
  }

  /** Finds out whether an intent was posted. Only history read after the waiting time, and without it, says no. */
  async #settle(row: PostRow): Promise<Posting> {
    const dueAt = row.sentAt + this.#deps.settleAfterMs;
    for (let tries = 0;; tries++) {
      const echoed = this.#echoes.get(row.localId);
      if (echoed !== undefined) return await this.#adopt(row, echoed);
      const complete = this.#deps.clock.now() >= dueAt;
      const found = await this.#look(row);
      if (found.read && found.messageId !== null) return await this.#adopt(row, found.messageId);
      if (found.read && complete) break;
      const pause = found.read
        ? dueAt - this.#deps.clock.now()
        : Math.min(30_000, 1_000 * 2 ** Math.min(tries, 5));
      await this.#waitForEcho(row.localId, Math.max(1, pause));
    }
    this.#deps.log("info", "a post did not arrive; sending it again", { key: row.key });
    const again = { ...row, queueId: this.#deps.queueId(), sentAt: this.#deps.clock.now() };
    await this.#must({ op: "post.again", localId: row.localId });
    return await this.#send(again);
  }

  async #look(row: PostRow): Promise<{ readonly read: boolean; readonly messageId: number | null }> {
    try {
      const page = await this.#deps.client.getMessages({
        anchor: row.afterId,
        includeAnchor: false,
        numBefore: 0,
        numAfter: 1_000,
        // By sender, not by topic: the topic may have been renamed in the meantime.
        narrow: [{ operator: "sender", operand: this.#deps.botId() }],
      }, this.#deps.signal);
      const taken = new Set<number>();
      for (const message of page.messages) {
        if (await this.at(message.id)) taken.add(message.id);
      }
      const hashes = await Promise.all(page.messages.map((message) => bodyHash(message.content)));
      const messageId = findOwn(
        page.messages.map((message, index) => ({ id: message.id, hash: hashes[index] ?? "" })),
        {
          hash: row.bodyHash,
          taken,
        },
      );
      return { read: page.foundNewest, messageId };
    } catch (error) {
      if (this.#deps.signal.aborted) throw error;
      this.#deps.log("warn", "history could not be read, so nothing is sent", {
        key: row.key,
        cause: String(error),
      });
      return { read: false, messageId: null };
    }
  }

  async #adopt(row: PostRow, messageId: number): Promise<Posting> {
    const { localId, conversation } = row;
    const before = await this.at(messageId);
    const send: Send[] = [];
    if (before && before.localId !== localId) {
      this.#deps.log("warn", "Zulip gave a message's number out again; was it restored from a backup?", {
        messageId,
        key: before.key,
      });
      // Or a reaction to this message would be taken for one to that card.
      if (before.key.startsWith("card/")) {
        send.push({ to: "approval", type: "card.gone", payload: { messageId } });
      }
    }
    await this.#must({ op: "post.posted", localId, conversation, messageId }, send);
    return { ok: true, messageId, fresh: true };
  }

  async #row(name: string, input: unknown): Promise<PostRow | null> {
    // `store/reads/zulip.ts` declares these reads to give PostRow or null.
    return await this.#deps.read(name, input) as PostRow | null;
  }

  async #must(op: Op, send: readonly Send[] = []): Promise<void> {
    const committed = await this.#deps.commit({ ops: [op], send });
    if (!committed.ok) throw new Error(`"${op.op}" was not committed: ${committed.error.message}`);
  }

  /** No effect begins after the lease may have passed to another supervisor; the process is about to be ended. */
  async #whileFenced(): Promise<void> {
    while (!this.#deps.mayAct()) await this.#wait(500);
  }

  async #wait(ms: number): Promise<void> {
    await sleep(this.#deps.clock, ms, this.#deps.signal);
  }

  async #waitForEcho(localId: string, ms: number): Promise<void> {
    const echo = new AbortController();
    this.#awaited.set(localId, () => echo.abort());
    try {
      await sleep(this.#deps.clock, ms, AbortSignal.any([echo.signal, this.#deps.signal]));
    } catch (error) {
      if (this.#deps.signal.aborted) throw error;
    } finally {
      this.#awaited.delete(localId);
    }
  }
}

function outcomeOf(row: PostRow): Posting {
  if (row.state === "posted" && row.messageId !== null) {
    return { ok: true, messageId: row.messageId, fresh: false };
  }
  return { ok: false, why: row.state === "deleted" ? "deleted" : "refused" };
}
