/**
 * The supervision tree for the API: from the supervisor when it shares this process, else from rows. Shows a person the singletons and the
 * conversations they may see. Proven by `edge/conversations_test.ts`.
 */
import { type ActorRow, actorsByRef, listActors } from "../store/queries/actors.ts";
import { conversationsById } from "../store/queries/conversations.ts";
import type { ActorView } from "./api.ts";
import type { Edge } from "./deps.ts";
import { actorView } from "./views.ts";

const MAX_ROWS = 500;

/** An actor with the channel by which people may see it; undefined for actors that belong to everybody. */
export interface PlacedActor {
  readonly actor: ActorView;
  readonly channelId: number | null | undefined;
}

/** Every actor worth showing. Rejects with `DbError`. */
export async function actorTree(edge: Edge): Promise<{ actors: PlacedActor[]; source: "live" | "rows" }> {
  if (!edge.actors) {
    const rows = await listActors(edge.db, MAX_ROWS);
    return { actors: rows.map((row) => fromRow(row, edge.clock.now())), source: "rows" };
  }
  return { actors: await place(edge, edge.actors()), source: "live" };
}

/** The actors with these refs. Rejects with `DbError`. */
export async function actorsNamed(edge: Edge, refs: readonly string[]): Promise<PlacedActor[]> {
  if (!edge.actors) return (await actorsByRef(edge.db, refs)).map((row) => fromRow(row, edge.clock.now()));
  return await place(edge, edge.actors().filter((actor) => refs.includes(actor.ref)));
}

/** The conversation that a ref names, if it names one. */
export function conversationOf(ref: string): string | undefined {
  return ref.startsWith("conversation/") ? ref.slice("conversation/".length) : undefined;
}

function fromRow(row: ActorRow, now: number): PlacedActor {
  const isConversation = conversationOf(row.ref) !== undefined;
  return { actor: actorView(row, now), channelId: isConversation ? row.channel_id : undefined };
}

async function place(edge: Edge, actors: readonly ActorView[]): Promise<PlacedActor[]> {
  const ids = actors.flatMap((actor) => conversationOf(actor.ref) ?? []);
  const known = new Map((await conversationsById(edge.db, ids)).map((row) => [row.id, row]));
  return actors.map((actor) => {
    const id = conversationOf(actor.ref);
    if (id === undefined) return { actor, channelId: undefined };
    const row = known.get(id);
    return { actor: row ? { title: row.title, ...actor } : actor, channelId: row?.channel_id ?? null };
  });
}
