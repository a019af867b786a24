/**
 * Feed rows as stream events: each subject is read as it is now and placed, so that a stream can ask who may see it. Rows whose subject is gone
 * are passed over. Proven by `edge/stream_test.ts`.
 */
import { conversationsById } from "../store/queries/conversations.ts";
import type { FeedRow } from "../store/queries/feed.ts";
import { findItem } from "../store/queries/items.ts";
import { actorsNamed, conversationOf } from "./actor_tree.ts";
import type { Edge } from "./deps.ts";
import type { Announcement } from "./feed_hub.ts";
import { itemView } from "./item_view.ts";
import { conversationView } from "./views.ts";

/** Describes a page of the feed, in its order. Rejects with `DbError`. */
export async function describeFeed(edge: Edge, rows: readonly FeedRow[]): Promise<Announcement[]> {
  const [items, conversations, actors] = await Promise.all([
    Promise.all(refs(rows, "item").map(async (id) => ({ id, found: await findItem(edge.db, id) }))),
    conversationsById(edge.db, [...refs(rows, "conversation"), ...refs(rows, "events").map(bare)]),
    actorsNamed(edge, refs(rows, "actor")),
  ]);
  const itemOf = new Map(items.map(({ id, found }) => [id, found]));
  const conversationById = new Map(conversations.map((row) => [row.id, row]));
  const actorOf = new Map(actors.map((placed) => [placed.actor.ref, placed]));

  return rows.flatMap((row): Announcement[] => {
    const { seq, kind, ref } = row;
    switch (kind) {
      case "item": {
        const found = itemOf.get(ref);
        if (!found) return [];
        const event = { event: "item", data: { item: itemView(found.item) } } as const;
        return [{ seq, event, scope: { channelId: found.channelId }, later: found.later }];
      }
      case "conversation": {
        const found = conversationById.get(ref);
        if (!found) return [];
        const event = { event: "conversation", data: { conversation: conversationView(found) } } as const;
        return [{ seq, event, scope: { channelId: found.channel_id } }];
      }
      case "events": {
        const conversation = bare(ref);
        const channelId = conversationById.get(conversation)?.channel_id ?? null;
        const event = { event: "events", data: { conversation, seq: row.version } } as const;
        return [{ seq, event, scope: { channelId } }];
      }
      case "actor": {
        const found = actorOf.get(ref);
        const data = found ? { ref, actor: found.actor } : { ref };
        const unknown = conversationOf(ref) === undefined ? undefined : null;
        const channelId = found ? found.channelId : unknown;
        const scope = channelId === undefined ? "everybody" as const : { channelId };
        return [{ seq, event: { event: "actor", data }, scope }];
      }
      case "schedule":
      case "policy":
        return [{ seq, event: { event: kind, data: { ref } }, scope: "everybody" }];
      default:
        // A newer supervisor may announce what this edge does not know yet.
        return unknownKind(kind);
    }
  });
}

function refs(rows: readonly FeedRow[], kind: FeedRow["kind"]): string[] {
  return rows.filter((row) => row.kind === kind).map((row) => row.ref);
}

function bare(ref: string): string {
  return conversationOf(ref) ?? ref;
}

function unknownKind(_kind: never): Announcement[] {
  return [];
}
