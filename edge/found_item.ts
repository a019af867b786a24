/** The item that a route names, if the session may see it; what it may not see is not there. Proven by `edge/inbox_test.ts`. */
import type { Context } from "hono";
import { findItem, type FoundItem } from "../store/queries/items.ts";
import { requireSight, viewerOf } from "./auth.ts";
import type { Edge, EdgeEnv } from "./deps.ts";
import { ApiError } from "./errors.ts";
import { itemView } from "./item_view.ts";
import type { Item } from "./api.ts";

/** Finds it by the route's `id`. Throws `not_found`. */
export async function namedItem(c: Context<EdgeEnv>, edge: Edge): Promise<FoundItem> {
  const found = await findItem(edge.db, c.req.param("id") ?? "");
  requireSight(c, found?.channelId ?? null, "item");
  if (!found) throw new ApiError("not_found", "There is no such item");
  return found;
}

/** The item as this person sees it: with their own marks. */
export function ownView(c: Context<EdgeEnv>, { item, later }: FoundItem): Item {
  const until = later[viewerOf(c).userId];
  return { ...itemView(item), ...(until === undefined ? {} : { laterUntil: until }) };
}
