/**
 * What waits for a person, and the decision. 200: it is decided, and by this person as asked; 409: somebody else was first, with the winner.
 * Nothing is ever decided by a GET. Proven by `edge/inbox_test.ts`.
 */
import { type Context, Hono } from "hono";
import { isSealed, seal } from "../../lib/sealed.ts";
import { decide } from "../../store/decide.ts";
import { markDelegated, markLater, markSeen } from "../../store/edge/item_marks.ts";
import { canAct } from "../../store/queries/access.ts";
import { standingOf } from "../../store/queries/calls.ts";
import { findItem, type FoundItem, listItems } from "../../store/queries/items.ts";
import { listPeople } from "../../store/queries/people.ts";
import { OFFER_PRIORITY, offersFor } from "../../lib/policy/offers.ts";
import {
  type DeciderList,
  type DecisionConflict,
  DecisionRequest,
  DelegateRequest,
  type ItemList,
  ItemState,
  LaterRequest,
  Page,
  RuleInput,
  type RuleOffers,
} from "../api.ts";
import { requireAct, requireRole, requireSight, viewerOf } from "../auth.ts";
import { readBody, readQuery } from "../body.ts";
import { change } from "../change.ts";
import type { Edge, EdgeEnv } from "../deps.ts";
import { ApiError, refuse, refuseCommit } from "../errors.ts";
import { itemView } from "../item_view.ts";
import { callOf, contextOf, policyRows } from "../policy_view.ts";
import { limitWrites } from "../rate.ts";

const MAX_LATER_MS = 30 * 86_400_000;
const InboxQuery = Page.extend({ state: ItemState.optional() });

/** `/api/inbox`. */
export function inboxRoutes(edge: Edge): Hono<EdgeEnv> {
  const app = new Hono<EdgeEnv>();

  app.get("/", async (c) => {
    const query = readQuery(c, InboxQuery);
    const { items, total, next } = await listItems(edge.db, { viewer: viewerOf(c), ...query });
    const notices = edge.unready?.() ?? [];
    return c.json(
      {
        items: items.map(itemView),
        total,
        ...(next ? { next } : {}),
        ...(notices.length > 0 ? { notices: [...notices] } : {}),
      } satisfies ItemList,
    );
  });

  app.get("/:id", async (c) => c.json(itemView((await find(c, edge)).item)));

  app.post("/:id/decision", async (c) => {
    const { item, channelId, sealTo } = await find(c, edge);
    requireAct(c, channelId, "item");
    await limitWrites(c, edge);
    const { version, ...asked } = await readBody(c, DecisionRequest);
    // A secret ends here: from now on only who asked for it can read it.
    const { answer } = asked;
    const body = sealTo && answer !== undefined && !isSealed(answer)
      ? { ...asked, answer: await seal(sealTo, answer) }
      : asked;
    const { viewer, userName, deviceId } = c.get("session");
    const decided = await decide(edge.db, {
      itemId: item.id,
      version,
      body,
      by: { viewer, name: userName, surface: "web", device: deviceId },
      now: edge.clock.now(),
      newId: edge.newId,
      commit: (member) => edge.committer.commit(member),
    });
    if (decided.ok) {
      edge.doorbell(["approval"]);
      edge.hub.notify();
      return c.json(itemView(decided.value));
    }
    if (!decided.winner) refuse(decided.error);
    const { code, message } = decided.error;
    return c.json(
      { error: { code, message }, item: itemView(decided.winner) } satisfies DecisionConflict,
      409,
    );
  });

  app.post("/:id/later", async (c) => {
    const { item, channelId } = await find(c, edge);
    requireAct(c, channelId, "item");
    await limitWrites(c, edge);
    const { until } = await readBody(c, LaterRequest);
    const now = edge.clock.now();
    if (until <= now || until > now + MAX_LATER_MS) {
      throw new ApiError("bad_request", "until: must lie within the next 30 days");
    }
    const statements = markLater(item.id, item.version, until, now);
    const committed = await edge.committer.commit({ id: edge.newId(), statements });
    if (!committed.ok && committed.error.code === "guard_failed") {
      throw new ApiError("conflict", "The item waits no more");
    }
    if (!committed.ok) refuseCommit(committed.error);
    edge.hub.notify();
    return c.json(itemView((await find(c, edge)).item));
  });

  app.get("/:id/deciders", async (c) => {
    const { channelId } = await find(c, edge);
    requireAct(c, channelId, "item");
    const own = viewerOf(c).userId;
    const people = (await listPeople(edge.db))
      .filter((each) => each.id !== own && canAct({ ...each, userId: each.id }, channelId))
      .map(({ id, name }) => ({ id, name }));
    return c.json({ people } satisfies DeciderList);
  });

  app.post("/:id/delegate", async (c) => {
    const { item, channelId } = await find(c, edge);
    requireAct(c, channelId, "item");
    await limitWrites(c, edge);
    const { userId } = await readBody(c, DelegateRequest);
    const person = (await listPeople(edge.db)).find((each) => each.id === userId);
    if (userId !== null && !(person && canAct({ ...person, userId }, channelId))) {
      throw new ApiError("bad_request", "userId: names nobody who could decide this");
    }
    const statements = markDelegated(item.id, item.version, userId, edge.clock.now());
    const committed = await edge.committer.commit({ id: edge.newId(), statements });
    if (!committed.ok && committed.error.code === "guard_failed") {
      throw new ApiError("conflict", "The item waits no more");
    }
    if (!committed.ok) refuseCommit(committed.error);
    edge.hub.notify();
    return c.json(itemView((await find(c, edge)).item));
  });

  app.post("/:id/undo", async (c) => {
    const { item, channelId } = await find(c, edge);
    requireAct(c, channelId, "item");
    return await change(c, edge, { kind: "item.undo", itemId: item.id });
  });

  app.get("/:id/rules", async (c) => {
    requireRole(c, "owner");
    const view = itemView((await find(c, edge)).item);
    const { tool, described, kind, state } = view;
    if (kind !== "approval" || state !== "waiting" || tool === undefined || !described) {
      return c.json({ offers: [] } satisfies RuleOffers);
    }
    const [rows, standing] = await Promise.all([policyRows(edge), standingOf(edge.db, view.conversation.id)]);
    const context = contextOf(rows, { conversation: view.conversation.id, ...standing }, edge.clock.now());
    const fitting = rows.rules ? offersFor(callOf(tool, described, rows), rows.rules, context) : [];
    const offers = fitting.map((
      { label, rule },
    ) => ({
      label,
      rule: RuleInput.parse({ ...rule, groupId: context.group, priority: OFFER_PRIORITY }),
    }));
    return c.json({ offers } satisfies RuleOffers);
  });

  app.post("/:id/seen", async (c) => {
    const { item, channelId } = await find(c, edge);
    // Only who could have decided has seen it in the sense of the inbox.
    if (canAct(viewerOf(c), channelId) && item.seenAt === undefined) {
      const statements = markSeen(item.id, item.version, edge.clock.now());
      const committed = await edge.committer.commit({ id: edge.newId(), statements });
      if (!committed.ok) refuseCommit(committed.error);
      edge.hub.notify();
    }
    return c.body(null, 204);
  });

  return app;
}

async function find(c: Context<EdgeEnv>, edge: Edge): Promise<FoundItem> {
  const found = await findItem(edge.db, c.req.param("id") ?? "");
  requireSight(c, found?.channelId ?? null, "item");
  if (!found) throw new ApiError("not_found", "There is no such item");
  return found;
}
