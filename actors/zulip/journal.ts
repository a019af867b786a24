/**
 * The topic journal: which conversation a topic or DM group belongs to, and where a conversation stands now. It follows renames, moves and
 * the resolved mark. The memory here is what the rows say plus changes whose operations were handed to the caller to commit; it does no I/O.
 * Proven by `intake_test.ts`.
 */
import type { TopicRow } from "../../store/reads/zulip.ts";
import type { Target } from "../../zulip/client.ts";
import { topicKey } from "../../zulip/topic.ts";
import type { EventOf } from "../../zulip/wire/events.ts";
import type { Place } from "../../zulip/wire/messages.ts";
import type { Op } from "../../store/ops.ts";

interface Entry {
  readonly conversation: string;
  /** The key under which `entries` holds it. */
  key: string;
  target: Target;
  /** Newest message of ours there; 0 when none is known. */
  lastOwnId: number;
}

/** What became of a moved topic. */
export type Moved = { readonly ops: readonly Op[]; readonly retired: readonly string[] };

/** The journal of one realm. */
export class Journal {
  readonly #byKey = new Map<string, Entry>();
  readonly #byConversation = new Map<string, Entry>();

  constructor(readonly realm: string, rows: readonly TopicRow[]) {
    for (const row of rows) {
      const target: Target = row.kind === "dm"
        ? { userIds: (row.userIds ?? "").split(",").map(Number) }
        : { channelId: row.channelId ?? 0, topic: row.topic ?? "" };
      this.#add({
        conversation: row.conversation,
        key: keyOf(target),
        target,
        lastOwnId: row.lastOwnId ?? 0,
      });
    }
  }

  /** The conversation of a place, if it has one. */
  at(place: Place): string | undefined {
    return this.#byKey.get(keyOf(targetOf(place)))?.conversation;
  }

  /** Where a conversation stands now, spelled as Zulip spells it. */
  targetOf(conversation: string): Target | undefined {
    return this.#byConversation.get(conversation)?.target;
  }

  /** Newest message of ours in a conversation's topic, 0 when none is known. */
  lastOwnId(conversation: string): number {
    return this.#byConversation.get(conversation)?.lastOwnId ?? 0;
  }

  /** Remembers a message of ours; the row was written with its post. */
  own(conversation: string, messageId: number): void {
    const entry = this.#byConversation.get(conversation);
    if (entry) entry.lastOwnId = Math.max(entry.lastOwnId, messageId);
  }

  /**
   * The conversation of a place, made when there is none. The operation is given every time: committing it again changes nothing, and two
   * messages of one new topic may be committed in either order.
   */
  ensure(place: Place, newId: () => string): { readonly conversation: string; readonly op: Op } {
    const target = targetOf(place);
    const key = keyOf(target);
    let entry = this.#byKey.get(key);
    if (!entry) {
      entry = { conversation: newId(), key, target, lastOwnId: 0 };
      this.#add(entry);
    }
    return { conversation: entry.conversation, op: this.#put(entry) };
  }

  /**
   * Follows a move. The conversation goes along when its whole topic moved, or when its newest message of ours did. Into a channel that is
   * not served, or onto a topic that has a conversation, it is retired: the destination wins.
   */
  move(event: EventOf<"update_message">, serves: (channelId: number) => boolean): Moved {
    if (!event.move) return { ops: [], retired: [] };
    const { from, to, propagateMode } = event.move;
    const entry = this.#byKey.get(keyOf(from));
    if (!entry) return { ops: [], retired: [] };
    const whole = propagateMode === "change_all" || event.messageIds.includes(entry.lastOwnId);
    if (!whole) return { ops: [], retired: [] };
    const occupant = this.#byKey.get(keyOf(to));
    if (!serves(to.channelId) || (occupant && occupant !== entry)) return this.#retire(entry);
    this.#byKey.delete(entry.key);
    entry.key = keyOf(to);
    entry.target = to;
    this.#byKey.set(entry.key, entry);
    return {
      ops: [{
        op: "topic.move",
        conversation: entry.conversation,
        channelId: to.channelId,
        topicKey: topicKey(to.topic),
        topic: to.topic,
      }],
      retired: [],
    };
  }

  /** A message shows how its topic is spelled now (a resolve that happened while we were away). */
  respell(place: Place): readonly Op[] {
    if (place.kind !== "channel") return [];
    const entry = this.#byKey.get(keyOf(targetOf(place)));
    if (!entry || !("topic" in entry.target) || entry.target.topic === place.topic) return [];
    entry.target = { channelId: place.channelId, topic: place.topic };
    return [{
      op: "topic.move",
      conversation: entry.conversation,
      channelId: place.channelId,
      topicKey: topicKey(place.topic),
      topic: place.topic,
    }];
  }

  #retire(entry: Entry): Moved {
    this.#byKey.delete(entry.key);
    this.#byConversation.delete(entry.conversation);
    return { ops: [{ op: "topic.retire", conversation: entry.conversation }], retired: [entry.conversation] };
  }

  #add(entry: Entry): void {
    this.#byKey.set(entry.key, entry);
    this.#byConversation.set(entry.conversation, entry);
  }

  #put({ conversation, target }: Entry): Op {
    const base = { op: "topic.put", conversation, realm: this.realm } as const;
    return "userIds" in target
      ? {
        ...base,
        kind: "dm",
        channelId: null,
        topicKey: null,
        topic: null,
        userIds: target.userIds.join(","),
      }
      : {
        ...base,
        kind: "channel",
        channelId: target.channelId,
        topicKey: topicKey(target.topic),
        topic: target.topic,
        userIds: null,
      };
  }
}

/** Where an answer to a message goes. A DM group is named by everyone in it, the bot too. */
export function targetOf(place: Place): Target {
  if (place.kind === "channel") return { channelId: place.channelId, topic: place.topic };
  return { userIds: [...new Set(place.users.map((user) => user.id))].sort((a, b) => a - b) };
}

function keyOf(target: Target): string {
  return "userIds" in target
    ? `d ${target.userIds.join(",")}`
    : `c ${target.channelId} ${topicKey(target.topic)}`;
}
