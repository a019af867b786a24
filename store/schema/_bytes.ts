/**
 * A BLOB column as `Uint8Array`, which is what every driver of ours gives back; drizzle's own type is Node's Buffer.
 */
import { customType } from "drizzle-orm/sqlite-core";

/** Declares a BLOB column. */
export const bytes = customType<{ data: Uint8Array; driverData: Uint8Array }>({ dataType: () => "blob" });
