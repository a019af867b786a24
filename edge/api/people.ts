/**
 * Signing in, devices and people. Part of `edge/api.ts`.
 */
import * as z from "zod";

export const Role = z.enum(["owner", "approver", "viewer"]);
export type Role = z.infer<typeof Role>;

/** `POST /api/session`: a one-time token or the `OWNER_TOKEN`. `device` names the browser in the device list. */
export const SignIn = z.strictObject({
  token: z.string().min(16).max(512),
  device: z.string().trim().min(1).max(100).optional(),
});
export type SignIn = z.infer<typeof SignIn>;

/**
 * `POST /api/session/confirm`: proves again who is signed in, by the `OWNER_TOKEN` or an unused one-time token of the same person; 204. Where an
 * `OWNER_TOKEN` is set or the person has a passkey, changes that last answer 403 `reauthenticate` ten minutes after the last proof.
 */
export const Confirmation = z.strictObject({ token: z.string().min(16).max(512) });
export type Confirmation = z.infer<typeof Confirmation>;

/** `GET /api/me` and the answer to a sign-in. State-changing calls repeat `csrf` in the header `X-Callboard-Csrf`. */
export const Me = z.object({
  user: z.object({ id: z.string(), name: z.string(), role: Role }),
  device: z.object({ id: z.string(), name: z.string() }),
  csrf: z.string(),
  expiresAt: z.int(),
  version: z.string(),
  /** Whether the person has a passkey and may use it at this address. */
  passkey: z.boolean(),
  /** Set when the instance can name its Zulip realm. */
  realm: z.string().optional(),
});
export type Me = z.infer<typeof Me>;

/** `GET /api/devices`: one per sign-in. */
export const Device = z.object({
  id: z.string(),
  name: z.string(),
  createdAt: z.int(),
  seenAt: z.int(),
  current: z.boolean(),
});
export type Device = z.infer<typeof Device>;
export const DeviceList = z.object({ devices: z.array(Device) });
export type DeviceList = z.infer<typeof DeviceList>;

/** `POST /api/devices/link` and `POST /api/users/:id/link`: a one-time sign-in link, for another device or for somebody new. */
export const DeviceLink = z.object({ url: z.string(), expiresAt: z.int() });
export type DeviceLink = z.infer<typeof DeviceLink>;

/** A person as the owner sets them up. `channels`: what they may see (`view`) or also decide in (`approve`); the owner may do everything. */
export const UserInput = z.strictObject({
  name: z.string().trim().min(1).max(100),
  role: Role,
  zulipUserId: z.int().positive().nullable().default(null),
  channels: z.array(z.strictObject({ id: z.int().positive(), access: z.enum(["view", "approve"]) })).max(500)
    .default([]),
});
export type UserInput = z.input<typeof UserInput>;
export const UserView = z.object({
  id: z.string(),
  name: z.string(),
  role: Role,
  zulipUserId: z.int().nullable(),
  channels: z.array(z.object({ id: z.int(), access: z.enum(["view", "approve"]) })),
});
export type UserView = z.infer<typeof UserView>;

/** `GET /api/users` (owner only); `POST` adds one, `PUT /api/users/:id` replaces one. */
export const UserList = z.object({ users: z.array(UserView) });
export type UserList = z.infer<typeof UserList>;
