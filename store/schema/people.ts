/**
 * People, their devices and how they sign in; written by the edge. Declared for typed queries as `store/migrations/` creates them;
 * indexes and checks are only there. `store/schema_test.ts` compares the two.
 */
import { integer, primaryKey, real, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { bytes } from "./_bytes.ts";

/** People who may sign in. */
export const users = sqliteTable("users", {
  id: text("id").primaryKey(),
  name: text("name").notNull(),
  role: text("role", { enum: ["owner", "approver", "viewer"] }).notNull(),
  zulipUserId: integer("zulip_user_id").unique(),
  createdAt: integer("created_at").notNull(),
  updatedAt: integer("updated_at").notNull(),
});

/** Which channels a person may see or decide for. */
export const entitlements = sqliteTable("entitlements", {
  userId: text("user_id").notNull(),
  channelId: integer("channel_id").notNull(),
  access: text("access").notNull(),
  at: integer("at").notNull(),
}, (table) => [primaryKey({ columns: [table.userId, table.channelId] })]);

/** Browsers and phones that signed in. */
export const devices = sqliteTable("devices", {
  id: text("id").primaryKey(),
  userId: text("user_id").notNull(),
  name: text("name").notNull(),
  createdAt: integer("created_at").notNull(),
  seenAt: integer("seen_at").notNull(),
  revokedAt: integer("revoked_at"),
});

/** Signed-in sessions, by the hash of their id. */
export const sessions = sqliteTable("sessions", {
  hash: text("hash").primaryKey(),
  userId: text("user_id").notNull(),
  deviceId: text("device_id").notNull(),
  csrf: text("csrf").notNull(),
  createdAt: integer("created_at").notNull(),
  /** When the person last proved who they are. */
  authenticatedAt: integer("authenticated_at").notNull(),
  seenAt: integer("seen_at").notNull(),
  expiresAt: integer("expires_at").notNull(),
});

/** One-time sign-in tokens, by hash. */
export const loginTokens = sqliteTable("login_tokens", {
  hash: text("hash").primaryKey(),
  userId: text("user_id").notNull(),
  createdAt: integer("created_at").notNull(),
  expiresAt: integer("expires_at").notNull(),
  usedAt: integer("used_at"),
});

/** WebAuthn public keys. */
export const passkeys = sqliteTable("passkeys", {
  id: text("id").primaryKey(),
  userId: text("user_id").notNull(),
  publicKey: bytes("public_key").notNull(),
  counter: integer("counter").notNull(),
  transports: text("transports").notNull(),
  name: text("name").notNull(),
  /** 1: the authenticator may copy it to other devices. */
  multiDevice: integer("multi_device").notNull(),
  /** 1: such a copy exists, as of the last use. */
  backedUp: integer("backed_up").notNull(),
  createdAt: integer("created_at").notNull(),
  usedAt: integer("used_at"),
});

/** WebAuthn challenges, used once. */
export const webauthnChallenges = sqliteTable("webauthn_challenges", {
  hash: text("hash").primaryKey(),
  userId: text("user_id"),
  purpose: text("purpose").notNull(),
  expiresAt: integer("expires_at").notNull(),
  usedAt: integer("used_at"),
});

/** Where Web Push reaches a device. */
export const pushSubscriptions = sqliteTable("push_subscriptions", {
  id: text("id").primaryKey(),
  deviceId: text("device_id").notNull(),
  endpoint: text("endpoint").notNull().unique(),
  p256dh: text("p256dh").notNull(),
  auth: text("auth").notNull(),
  createdAt: integer("created_at").notNull(),
  failedAt: integer("failed_at"),
});

/** Which item was pushed to which subscription. */
export const pushDeliveries = sqliteTable("push_deliveries", {
  itemId: text("item_id").notNull(),
  subscriptionId: text("subscription_id").notNull(),
  state: text("state").notNull(),
  at: integer("at").notNull(),
}, (table) => [primaryKey({ columns: [table.itemId, table.subscriptionId] })]);

/** Token buckets of the edge. */
export const rateLimits = sqliteTable("rate_limits", {
  key: text("key").primaryKey(),
  tokens: real("tokens").notNull(),
  at: integer("at").notNull(),
});
