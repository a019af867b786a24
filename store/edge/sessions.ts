/**
 * Signed-in browsers: a device row for each sign-in and a session row that holds only hashes. Expiry slides with use, up to a limit.
 * Proven by `edge/session_test.ts`.
 */
import { toChannels, type Viewer } from "../queries/access.ts";
import { type Db, objects, sql, type Statement } from "../db.ts";

/** How long a session lives after its last use, in milliseconds. */
export const SESSION_IDLE_MS = 30 * 86_400_000;

/** How long a session can live at all, in milliseconds. */
export const SESSION_MAX_MS = 90 * 86_400_000;

/** Use is noted at most this often, in milliseconds. */
export const SESSION_TOUCH_MS = 3_600_000;

/** A new session. `hash` and `csrfHash` are SHA-256 of what the browser keeps. */
export interface NewSession {
  readonly hash: string;
  readonly csrfHash: string;
  readonly userId: string;
  readonly deviceId: string;
  readonly deviceName: string;
}

/** A valid session with its user, device and entitlements. */
export interface Session {
  readonly hash: string;
  readonly csrfHash: string;
  readonly userName: string;
  readonly deviceId: string;
  readonly deviceName: string;
  readonly createdAt: number;
  /** When the person last proved who they are: at sign-in, or by confirming since. */
  readonly authenticatedAt: number;
  readonly seenAt: number;
  readonly expiresAt: number;
  /** Whether the person can prove with a passkey who they are. */
  readonly hasPasskey: boolean;
  readonly viewer: Viewer;
}

/** A device of a user that has not been revoked. */
export interface DeviceRow {
  readonly id: string;
  readonly name: string;
  readonly created_at: number;
  readonly seen_at: number;
}

/** The statements that make a session and its device; expired sessions go. */
export function insertSession(session: NewSession, now: number): Statement[] {
  return [
    sql("DELETE FROM sessions WHERE expires_at <= ?", now),
    sql(
      "INSERT INTO devices (id, user_id, name, created_at, seen_at) VALUES (?, ?, ?, ?, ?)",
      session.deviceId,
      session.userId,
      session.deviceName,
      now,
      now,
    ),
    sql(
      `INSERT INTO sessions (hash, user_id, device_id, csrf, created_at, authenticated_at, seen_at, expires_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
      session.hash,
      session.userId,
      session.deviceId,
      session.csrfHash,
      now,
      now,
      now,
      now + SESSION_IDLE_MS,
    ),
  ];
}

interface SessionRow {
  readonly hash: string;
  readonly csrf: string;
  readonly user_id: string;
  readonly name: string;
  readonly role: Viewer["role"];
  readonly device_id: string;
  readonly device_name: string;
  readonly created_at: number;
  readonly authenticated_at: number;
  readonly seen_at: number;
  readonly expires_at: number;
  readonly has_passkey: number;
}

/** The session behind a hash, unless it has expired or its device was revoked. Rejects with `DbError`. */
export async function findSession(db: Db, hash: string, now: number): Promise<Session | undefined> {
  const [found, entitled] = await db.queryAll([
    sql(
      `SELECT s.hash, s.csrf, s.user_id, u.name, u.role, s.device_id, d.name AS device_name, s.created_at, s.authenticated_at,
         s.seen_at, s.expires_at, EXISTS (SELECT 1 FROM passkeys p WHERE p.user_id = s.user_id) AS has_passkey
       FROM sessions s JOIN users u ON u.id = s.user_id JOIN devices d ON d.id = s.device_id
       WHERE s.hash = ? AND s.expires_at > ? AND d.revoked_at IS NULL`,
      hash,
      now,
    ),
    sql(
      `SELECT e.channel_id, e.access FROM entitlements e JOIN sessions s ON s.user_id = e.user_id WHERE s.hash = ?`,
      hash,
    ),
  ]);
  const row = found && objects<SessionRow>(found)[0];
  if (!row || !entitled) return undefined;
  return {
    hash: row.hash,
    csrfHash: row.csrf,
    userName: row.name,
    deviceId: row.device_id,
    deviceName: row.device_name,
    createdAt: row.created_at,
    authenticatedAt: row.authenticated_at,
    seenAt: row.seen_at,
    expiresAt: row.expires_at,
    hasPasskey: row.has_passkey === 1,
    viewer: { userId: row.user_id, role: row.role, channels: toChannels(objects(entitled)) },
  };
}

/** Notes that the session was used and moves its expiry. */
export function touchSession(session: Session, now: number): Statement[] {
  const expiresAt = Math.min(now + SESSION_IDLE_MS, session.createdAt + SESSION_MAX_MS);
  return [
    sql("UPDATE sessions SET seen_at = ?, expires_at = ? WHERE hash = ?", now, expiresAt, session.hash),
    sql("UPDATE devices SET seen_at = ? WHERE id = ?", now, session.deviceId),
  ];
}

/** Notes that the person proved again who they are. */
export function confirmSession(session: Session, now: number): Statement[] {
  return [sql("UPDATE sessions SET authenticated_at = ? WHERE hash = ?", now, session.hash)];
}

/** Ends every session of a device of this user. */
export function revokeDevice(userId: string, deviceId: string, now: number): Statement[] {
  return [
    sql("DELETE FROM sessions WHERE device_id = ? AND user_id = ?", deviceId, userId),
    sql(
      "DELETE FROM push_subscriptions WHERE device_id IN (SELECT id FROM devices WHERE id = ? AND user_id = ?)",
      deviceId,
      userId,
    ),
    sql(
      "UPDATE devices SET revoked_at = ? WHERE id = ? AND user_id = ? AND revoked_at IS NULL",
      now,
      deviceId,
      userId,
    ),
  ];
}

/** The devices of a user, the last used first. Rejects with `DbError`. */
export async function listDevices(db: Db, userId: string, now: number): Promise<DeviceRow[]> {
  const rows = await db.query(
    sql(
      `SELECT id, name, created_at, seen_at FROM devices d WHERE user_id = ? AND revoked_at IS NULL
       AND EXISTS (SELECT 1 FROM sessions s WHERE s.device_id = d.id AND s.expires_at > ?) ORDER BY seen_at DESC, id LIMIT 200`,
      userId,
      now,
    ),
  );
  return objects<DeviceRow>(rows);
}
