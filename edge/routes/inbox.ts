/**
 * What waits for a person, and the decision. 200: it is decided, and by this person as asked; 409: somebody else was first, with the winner.
 * Nothing is ever decided by a GET. Proven by `edge/inbox_test.ts`.
 */
import { Hono } from "hono";
import { decide } from "../../store/decide.ts";
import { standingOf } from "../../store/queries/calls.ts";
import { listItems } from "../../store/queries/items.ts";
import { OFFER_PRIORITY, offersFor } from "../../lib/policy/offers.ts";
import {
  type DecisionConflict,
  DecisionRequest,
  type ItemList,
  ItemState,
  Page,
  RuleInput,
  type RuleOffers,
} from "../api.ts";
import { storable } from "../answer.ts";
import { requireAct, requireRole, viewerOf } from "../auth.ts";
import { readBody, readQuery } from "../body.ts";
import { change } from "../change.ts";
import type { Edge, EdgeEnv } from "../deps.ts";
import { refuse } from "../errors.ts";
import { isFarReaching, isRisky, requireFresh, requireRecent } from "../fresh.ts";
import { namedItem, ownView } from "../found_item.ts";
import { itemView } from "../item_view.ts";
import { callOf, contextOf, policyRows } from "../policy_view.ts";
import { limitWrites } from "../rate.ts";
import { itemMarkRoutes } from "./item_marks.ts";

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

  app.get("/:id", async (c) => c.json(ownView(c, await namedItem(c, edge))));

  app.post("/:id/decision", async (c) => {
    const found = await namedItem(c, edge);
    const { item, channelId } = found;
    requireAct(c, channelId, "item");
    await limitWrites(c, edge);
    const { version, ...asked } = await readBody(c, DecisionRequest);
    if (viewerOf(c).role === "owner" && isFarReaching(asked)) requireFresh(c, edge);
    if (isRisky(c, item.risk, asked.decision)) requireRecent(c, edge);
    const body = await storable(found, asked);
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
      {
        error: { code, message },
        item: ownView(c, { ...found, item: decided.winner }),
      } satisfies DecisionConflict,
      409,
    );
  });

  app.post("/:id/undo", async (c) => {
    const { item, channelId } = await namedItem(c, edge);
    requireAct(c, channelId, "item");
    await limitWrites(c, edge);
    return await change(c, edge, { kind: "item.undo", itemId: item.id });
  });

  app.get("/:id/rules", async (c) => {
    requireRole(c, "owner");
    const view = itemView((await namedItem(c, edge)).item);
    const { tool, described, kind, state } = view;
    if (kind !== "approval" || state !== "waiting" || tool === undefined || !described) {
      return c.json({ offers: [] } satisfies RuleOffers);
    }
    const [rows, standing] = await Promise.all([policyRows(edge), standingOf(edge.db, view.conversation.id)]);
    const context = contextOf(rows, {
      conversation: view.conversation.id,
      ...standing,
      trigger: view.trigger,
    }, edge.clock.now());
    const fitting = rows.rules ? offersFor(callOf(tool, described, rows), rows.rules, context) : [];
    const offers = fitting.map((
      { label, rule },
    ) => ({
      label,
      rule: RuleInput.parse({ ...rule, groupId: context.group, priority: OFFER_PRIORITY }),
    }));
    return c.json({ offers } satisfies RuleOffers);
  });

  app.route("/", itemMarkRoutes(edge));

  return app;
}
