/**
 * Passkeys: the public halves of keys that people hold in their devices. The signature counter only moves forward, by compare-and-set, in the batch
 * of what the passkey was used for. Proven by `edge/passkeys_test.ts`.
 */
import { type Db, guard, labelled, objects, sql, type Statement } from "../db.ts";

/** The most passkeys that one person may have. */
export const MAX_PASSKEYS = 20;

/** A new passkey. `id` and `transports` are the authenticator's words, `publicKey` is COSE. */
export interface NewPasskey {
  readonly id: string;
  readonly userId: string;
  readonly publicKey: Uint8Array;
  readonly counter: number;
  readonly transports: readonly string[];
  readonly name: string;
  /** Whether the authenticator may copy it to other devices. */
  readonly isMultiDevice: boolean;
  /** Whether such a copy exists. */
  readonly isBackedUp: boolean;
}

/** A stored passkey. */
export interface Passkey extends NewPasskey {
  readonly createdAt: number;
  readonly usedAt: number | null;
}

interface PasskeyRow {
  readonly id: string;
  readonly user_id: string;
  readonly public_key: Uint8Array;
  readonly counter: number;
  readonly transports: string;
  readonly name: string;
  readonly multi_device: number;
  readonly backed_up: number;
  readonly created_at: number;
  readonly used_at: number | null;
}

/** The passkeys of a person, the oldest first. Rejects with `DbError`. */
export async function listPasskeys(db: Db, userId: string): Promise<Passkey[]> {
  const rows = await db.query(
    sql("SELECT * FROM passkeys WHERE user_id = ? ORDER BY created_at, id", userId),
  );
  return objects<PasskeyRow>(rows).map(passkeyOf);
}

/** One passkey, whoever's. Rejects with `DbError`. */
export async function findPasskey(db: Db, id: string): Promise<Passkey | undefined> {
  const row = objects<PasskeyRow>(await db.query(sql("SELECT * FROM passkeys WHERE id = ?", id)))[0];
  return row && passkeyOf(row);
}

/** Whether anybody has a passkey. Rejects with `DbError`. */
export async function hasAnyPasskey(db: Db): Promise<boolean> {
  return (await db.query(sql("SELECT 1 FROM passkeys LIMIT 1"))).rows.length > 0;
}

/** The statements that add a passkey; they fail their batch when it is known already or the person has too many. */
export function insertPasskey(passkey: NewPasskey, now: number): Statement[] {
  return [
    ...labelled("passkey new, and not one too many", [
      ...guard("NOT EXISTS (SELECT 1 FROM passkeys WHERE id = ?)", passkey.id),
      ...guard("(SELECT count(*) FROM passkeys WHERE user_id = ?) < ?", passkey.userId, MAX_PASSKEYS),
    ]),
    sql(
      `INSERT INTO passkeys (id, user_id, public_key, counter, transports, name, multi_device, backed_up, created_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      passkey.id,
      passkey.userId,
      passkey.publicKey,
      passkey.counter,
      JSON.stringify(passkey.transports),
      passkey.name,
      passkey.isMultiDevice,
      passkey.isBackedUp,
      now,
    ),
  ];
}

/** The statements that note a use; they fail their batch when the passkey is gone or was used meanwhile. */
export function usePasskey(
  passkey: Passkey,
  { counter, isBackedUp }: { readonly counter: number; readonly isBackedUp: boolean },
  now: number,
): Statement[] {
  return [
    ...labelled(
      "passkey as it was",
      guard("EXISTS (SELECT 1 FROM passkeys WHERE id = ? AND counter = ?)", passkey.id, passkey.counter),
    ),
    sql(
      "UPDATE passkeys SET counter = ?, backed_up = ?, used_at = ? WHERE id = ?",
      counter,
      isBackedUp,
      now,
      passkey.id,
    ),
  ];
}

/** The statement that renames a person's passkey; no row is affected when it is not theirs. */
export function renamePasskey(userId: string, id: string, name: string): Statement {
  return sql("UPDATE passkeys SET name = ? WHERE id = ? AND user_id = ?", name, id, userId);
}

/** The statement that removes a person's passkey; the last one only when `mayBeLast`. No row is affected when nothing was removed. */
export function removePasskey(userId: string, id: string, mayBeLast: boolean): Statement {
  return sql(
    `DELETE FROM passkeys WHERE id = ? AND user_id = ?
     AND (? OR EXISTS (SELECT 1 FROM passkeys other WHERE other.user_id = passkeys.user_id AND other.id <> passkeys.id))`,
    id,
    userId,
    mayBeLast,
  );
}

function passkeyOf(row: PasskeyRow): Passkey {
  return {
    id: row.id,
    userId: row.user_id,
    publicKey: row.public_key,
    counter: row.counter,
    // Written by `insertPasskey`, as a list of words.
    transports: JSON.parse(row.transports) as string[],
    name: row.name,
    isMultiDevice: row.multi_device === 1,
    isBackedUp: row.backed_up === 1,
    createdAt: row.created_at,
    usedAt: row.used_at,
  };
}
