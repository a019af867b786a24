/**
 * The folders of the toolbox on the host: one workspace a conversation, and beside them, under names that no conversation can have, what the
 * sandbox and the MCP servers need. Proven by `files_test.ts`.
 */
import type { Place } from "../tool.ts";

/** Makes folders when they are first needed. */
export interface Workspaces {
  /** Host folder that holds them all, without links. */
  readonly root: string;
  /** Host folder that stands in for `/etc`. */
  readonly etc: string;
  /** A folder for something that is no conversation. */
  folderOf(name: string): Promise<string>;
  placeOf(conversation: string): Promise<Place>;
}

/** Opens the root, making it if needed. Rejects when it is no folder that can be used. */
export async function openWorkspaces(folder: string): Promise<Workspaces> {
  await Deno.mkdir(folder, { recursive: true, mode: 0o700 });
  const root = await Deno.realPath(folder);
  return {
    root,
    etc: `${root}/.etc`,
    folderOf: (name) => makeFolder(`${root}/.${name}`),
    async placeOf(conversation) {
      if (!/^[A-Za-z0-9_-]{1,64}$/.test(conversation)) {
        throw new TypeError(`'conversation' must be an id, received "${conversation}"`);
      }
      return { conversation, root: await makeFolder(`${root}/${conversation}`) };
    },
  };
}

async function makeFolder(path: string): Promise<string> {
  await Deno.mkdir(path, { recursive: true, mode: 0o700 });
  if (!(await Deno.lstat(path)).isDirectory) throw new TypeError(`"${path}" is no folder`);
  return path;
}
