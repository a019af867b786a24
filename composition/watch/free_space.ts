/** The free space of a folder's file system, for a program without root's reserve. */
import { statfs } from "node:fs/promises";

/** Bytes. Rejects when the folder cannot be looked at. */
export async function freeBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}
