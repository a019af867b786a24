/**
 * Web chats and transcripts. Writing is one durable message; the conversation does the rest when it wakes, so a conversation that was only just
 * begun is shown from its first message. Proven by `edge/conversations_test.ts`.
 */
import { type Context, Hono } from "hono";
import * as z from "zod";
import { ConversationMessage, type Source } from "../../actors/protocol/conversation.ts";
import {
  conversationsById,
  listConversations,
  listEvents,
  queuedOpening,
} from "../../store/queries/conversations.ts";
import {
  type Accepted,
  type ConversationList,
  type ConversationSummary,
  type EventList,
  ModelChoice,
  NewConversation,
  NewMessage,
  Page,
  StopRequest,
} from "../api.ts";
import { requireAct, requireRole, requireSight, viewerOf } from "../auth.ts";
import { readBody, readQuery } from "../body.ts";
import type { Edge, EdgeEnv } from "../deps.ts";
import { ApiError } from "../errors.ts";
import { send } from "../outbox.ts";
import { limitWrites } from "../rate.ts";
import { requireUsableModel } from "../usable_model.ts";
import { conversationView, eventView, fromJson } from "../views.ts";

const EventPage = z.strictObject({
  after: z.coerce.number().int().min(0).default(0),
  limit: z.coerce.number().int().min(1).max(1000).default(200),
});

/** The `after` of a page: when the last one changed, and its id. */
const Cursor = z.string().regex(/^\d{1,16}~[A-Za-z0-9_-]{1,64}$/).transform((text) => {
  const [updatedAt = "", id = ""] = text.split("~");
  return { updatedAt: Number(updatedAt), id };
});

const ListPage = Page.extend({ after: Cursor.optional(), q: z.string().max(200).optional() });

/** `/api/conversations`. */
export function conversationRoutes(edge: Edge): Hono<EdgeEnv> {
  const app = new Hono<EdgeEnv>();

  app.get("/", async (c) => {
    const { limit, after, q } = readQuery(c, ListPage);
    const rows = await listConversations(edge.db, viewerOf(c), { limit, after, search: q });
    const last = rows.length === limit ? rows.at(-1) : undefined;
    const next = last ? { next: `${last.updated_at}~${last.id}` } : {};
    return c.json({ conversations: rows.map(conversationView), ...next } satisfies ConversationList);
  });

  app.post("/", async (c) => {
    requireRole(c, "owner");
    await limitWrites(c, edge);
    const { text, title } = await readBody(c, NewConversation);
    const conversation = edge.newId();
    const payload = {
      text,
      author: author(c),
      source: { kind: "web" } satisfies Source,
      ...(title ? { title } : {}),
    };
    const id = await send(edge, {
      to: `conversation/${conversation}`,
      type: "conversation.message",
      payload,
    });
    return c.json({ id, conversation } satisfies Accepted, 202);
  });

  app.get("/:id", async (c) => {
    return c.json((await find(c, edge)).view);
  });

  app.get("/:id/events", async (c) => {
    const { view } = await find(c, edge);
    const { after, limit } = readQuery(c, EventPage);
    const events = (await listEvents(edge.db, view.id, after, limit)).map(eventView);
    const last = events.length === limit ? events.at(-1) : undefined;
    return c.json({ events, ...(last ? { next: last.seq } : {}) } satisfies EventList);
  });

  app.post("/:id/messages", async (c) => {
    const { view, channelId } = await find(c, edge);
    requireAct(c, channelId, "conversation");
    await limitWrites(c, edge);
    const { text, mode, clientId } = await readBody(c, NewMessage);
    const dedupe = clientId === undefined ? undefined : `web/${viewerOf(c).userId}/${view.id}/${clientId}`;
    // The conversation keeps where it stands from its first message; a later source says only where these words came from.
    const payload = { text, mode, author: author(c), source: { kind: "web" } };
    const to = `conversation/${view.id}`;
    const id = await send(edge, { to, type: "conversation.message", payload, dedupe });
    return c.json({ id, conversation: view.id } satisfies Accepted, 202);
  });

  app.post("/:id/stop", async (c) => {
    const { view, channelId } = await find(c, edge);
    requireAct(c, channelId, "conversation");
    await limitWrites(c, edge);
    const { turnId } = await readBody(c, StopRequest);
    const payload = { by: author(c), ...(turnId === undefined ? {} : { turnId }) };
    const id = await send(edge, { to: `conversation/${view.id}`, type: "conversation.stop", payload });
    return c.json({ id, conversation: view.id } satisfies Accepted, 202);
  });

  app.post("/:id/reset", async (c) => {
    const { view, channelId } = await find(c, edge);
    requireAct(c, channelId, "conversation");
    await limitWrites(c, edge);
    const to = `conversation/${view.id}`;
    const id = await send(edge, { to, type: "conversation.reset", payload: { by: author(c) } });
    return c.json({ id, conversation: view.id } satisfies Accepted, 202);
  });

  app.post("/:id/model", async (c) => {
    const { view, channelId } = await find(c, edge);
    requireAct(c, channelId, "conversation");
    await limitWrites(c, edge);
    const { model } = await readBody(c, ModelChoice);
    requireUsableModel(edge, model);
    const to = `conversation/${view.id}`;
    const id = await send(edge, { to, type: "conversation.set_model", payload: { by: author(c), model } });
    return c.json({ id, conversation: view.id } satisfies Accepted, 202);
  });

  return app;
}

interface Found {
  readonly view: ConversationSummary;
  readonly channelId: number | null;
}

async function find(c: Context<EdgeEnv>, edge: Edge): Promise<Found> {
  const id = c.req.param("id") ?? "";
  const found = await stored(edge, id) ?? await begun(edge, id) ??
    // Between the two looks its first message may have been handled.
    await stored(edge, id);
  requireSight(c, found?.channelId ?? null, "conversation");
  if (!found) throw new ApiError("not_found", "There is no such conversation");
  return found;
}

async function stored(edge: Edge, id: string): Promise<Found | undefined> {
  const [row] = await conversationsById(edge.db, [id]);
  return row && { view: conversationView(row), channelId: row.channel_id };
}

/** A conversation whose first message still waits: there is no row yet. */
async function begun(edge: Edge, id: string): Promise<Found | undefined> {
  const opening = await queuedOpening(edge.db, id);
  const message = ConversationMessage.safeParse(fromJson(opening?.payload ?? null));
  if (!opening || !message.success) return undefined;
  const { text, title } = message.data;
  const view: ConversationSummary = {
    id,
    title: title ?? text.slice(0, 80),
    source: "web",
    profile: "default",
    status: "idle",
    turns: 0,
    inputTokens: 0,
    outputTokens: 0,
    costUsd: 0,
    waiting: 0,
    createdAt: opening.at,
    updatedAt: opening.at,
  };
  return { view, channelId: null };
}

function author(c: Context<EdgeEnv>): { kind: "web"; id: string; name: string } {
  const { viewer, userName } = c.get("session");
  return { kind: "web", id: viewer.userId, name: userName };
}
