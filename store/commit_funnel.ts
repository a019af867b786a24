/**
 * Gathers commits on their way to the store Worker: while one message with commits is under way, further ones wait and leave together. Without
 * it every commit would reach the Worker in a message of its own and be a batch of its own, because the native client never gives the Worker's
 * loop a turn while it commits. Keeps the order. Proven by `tests/contract/store_test.ts`.
 */
import type { CommitMember, CommitResult } from "./committer.ts";

const MAX_MEMBERS = 64;

interface Waiting {
  readonly member: CommitMember;
  readonly resolve: (result: CommitResult) => void;
  readonly reject: (reason: unknown) => void;
}

/** One message under way at a time. */
export class CommitFunnel {
  readonly #send: (members: readonly CommitMember[]) => Promise<readonly CommitResult[]>;
  readonly #waiting: Waiting[] = [];
  #running = false;

  /** `send` answers with one result per member, in order; when it rejects, so do the members it was given. */
  constructor(send: (members: readonly CommitMember[]) => Promise<readonly CommitResult[]>) {
    this.#send = send;
  }

  /** Sends the member with the next message. */
  commit(member: CommitMember): Promise<CommitResult> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ member, resolve, reject });
      if (!this.#running) this.#run();
    });
  }

  async #run(): Promise<void> {
    this.#running = true;
    // Commits of one turn leave together.
    await Promise.resolve();
    while (this.#waiting.length > 0) await this.#sendOne(this.#waiting.splice(0, MAX_MEMBERS));
    this.#running = false;
  }

  async #sendOne(group: readonly Waiting[]): Promise<void> {
    try {
      const results = await this.#send(group.map((waiting) => waiting.member));
      group.forEach((waiting, index) => {
        const result = results[index];
        if (result === undefined) {
          waiting.reject(new RangeError(`no result for commit ${index} of ${group.length}`));
        } else waiting.resolve(result);
      });
    } catch (error) {
      for (const waiting of group) waiting.reject(error);
    }
  }
}
