/**
 * Events about the realm: subscriptions, channels, accounts, the server itself.
 *
 * Promises: tolerant of unknown fields and of what differs between feature level 237 and 12.x. A table of them and the entry point are in `events.ts`.
 * Proved by `wire_test.ts`.
 */
import * as z from "zod";
import { Channel } from "./register.ts";

const id = z.number().int();
const ids = z.array(id);

export const SubscriptionEvent = z.discriminatedUnion("op", [
  z.object({ op: z.literal("add"), id, subscriptions: z.array(Channel) }),
  z.object({ op: z.literal("remove"), id, subscriptions: z.array(Channel) }),
  z.object({ op: z.literal("update"), id, stream_id: id, property: z.string() }),
  z.object({ op: z.literal("peer_add"), id, stream_ids: ids.default([]), user_ids: ids.default([]) }),
  z.object({ op: z.literal("peer_remove"), id, stream_ids: ids.default([]), user_ids: ids.default([]) }),
]).transform((e) => {
  const base = { type: "subscription" as const, id: e.id };
  switch (e.op) {
    case "add":
    case "remove":
      return { ...base, op: e.op, channels: e.subscriptions };
    case "update":
      return { ...base, op: e.op, channelId: e.stream_id, property: e.property };
    case "peer_add":
    case "peer_remove":
      return { ...base, op: e.op, channelIds: e.stream_ids, userIds: e.user_ids };
  }
});

export const StreamEvent = z.discriminatedUnion("op", [
  z.object({ op: z.literal("create"), id, streams: z.array(Channel) }),
  // Newer servers give ids alone, older ones objects.
  z.object({
    op: z.literal("delete"),
    id,
    streams: z.array(Channel).default([]),
    stream_ids: ids.default([]),
  }),
  z.object({
    op: z.literal("update"),
    id,
    stream_id: id,
    name: z.string(),
    property: z.string(),
    value: z.unknown(),
  }),
]).transform((e) => {
  const base = { type: "stream" as const, id: e.id };
  switch (e.op) {
    case "create":
      return { ...base, op: e.op, channels: e.streams };
    case "delete":
      return {
        ...base,
        op: e.op,
        channelIds: [...new Set([...e.stream_ids, ...e.streams.map((s) => s.id)])],
      };
    case "update":
      return {
        ...base,
        op: e.op,
        channelId: e.stream_id,
        name: e.name,
        property: e.property,
        value: e.value,
      };
  }
});

export const RealmUserEvent = z.object({
  type: z.literal("realm_user"),
  id,
  op: z.enum(["add", "update", "remove"]),
  person: z.object({
    user_id: id,
    full_name: z.string().optional(),
    is_bot: z.boolean().optional(),
    is_active: z.boolean().optional(),
    role: id.optional(),
  }),
}).transform((e) => ({
  type: e.type,
  id: e.id,
  op: e.op,
  userId: e.person.user_id,
  /** Null where the event does not change the field. */
  fullName: e.person.full_name ?? null,
  isBot: e.person.is_bot ?? null,
  isActive: e.op === "remove" ? false : e.person.is_active ?? null,
  role: e.person.role ?? null,
}));

export const RestartEvent = z.object({
  type: z.literal("restart"),
  id,
  zulip_version: z.string().default(""),
  zulip_feature_level: id,
}).transform((e) => ({
  type: e.type,
  id: e.id,
  zulipVersion: e.zulip_version,
  featureLevel: e.zulip_feature_level,
}));

export const HeartbeatEvent = z.object({ type: z.literal("heartbeat"), id });

export const RealmDeactivatedEvent = z.object({ id }).transform((e) => ({
  type: "realm_deactivated" as const,
  id: e.id,
}));
