/**
 * Which places of a workspace a command must not see: what protected rules deny by their paths. A command names no paths that a rule could meet, so
 * its sandbox covers these places up. Looks at names only and follows no link; what may not be looked into counts as hidden. Below a name that
 * is no UTF-8 nothing is found, and no tool but a command can have put anything there. Bounded: a workspace that is too large to be looked
 * through is a problem, never a reason to hide less. Proven by `hidden_places_test.ts` and
 * `tools/tools_test.ts`.
 */
import { secretPatterns } from "../../../lib/policy/floor.ts";
import { matchesPath, normalizePattern } from "../../../lib/policy/path_pattern.ts";
import { fail, ok, type Result } from "../../../lib/result.ts";

/** A place, by its path inside the workspace, which starts with `/`. */
export interface HiddenPlace {
  readonly path: string;
  readonly kind: "directory" | "file";
}

/** What one look at a folder gives; `unreadable` when it cannot be looked into. */
export type Listing = readonly Pick<Deno.DirEntry, "name" | "isDirectory" | "isSymlink">[] | "unreadable";

/** How to look, and how much. */
export interface LookAround {
  /** Lists a folder of the host. Default: the file system. */
  readonly list?: (hostPath: string) => Promise<Listing>;
  /** Entries to look at, and places to hide, at most. */
  readonly maxEntries?: number;
  readonly maxPlaces?: number;
  readonly signal?: AbortSignal;
}

const MAX_ENTRIES = 500_000;
/** bwrap takes each of them as two arguments. */
const MAX_PLACES = 500;

/** Looks through a workspace. The failure's message is for the model. Rejects when the signal aborts. */
export async function hiddenPlaces(
  root: string,
  patterns: readonly string[] = secretPatterns,
  { list = listFolder, maxEntries = MAX_ENTRIES, maxPlaces = MAX_PLACES, signal }: LookAround = {},
): Promise<Result<readonly HiddenPlace[]>> {
  if (patterns.length === 0) return ok([]);
  const hides = matcher(patterns);
  if (hides("/", "")) return ok([{ path: "/", kind: "directory" }]);
  const places: HiddenPlace[] = [];
  const folders = [""];
  let seen = 0;
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    signal?.throwIfAborted();
    const listing = await list(`${root}${folder}`);
    if (listing === "unreadable") {
      places.push({ path: folder || "/", kind: "directory" });
      continue;
    }
    for (const { name, isDirectory, isSymlink } of listing) {
      if (++seen > maxEntries) return fail("unavailable", tooMany(`${maxEntries} files and folders`));
      const path = `${folder}/${name}`;
      if (isSymlink) continue; // What it leads to is hidden where it is, or is not hidden.
      if (hides(path, name)) places.push({ path, kind: isDirectory ? "directory" : "file" });
      else if (isDirectory) folders.push(path);
    }
    if (places.length > maxPlaces) return fail("unavailable", tooMany(`${maxPlaces} protected places`));
  }
  return ok(places.sort((a, b) => a.path < b.path ? -1 : 1));
}

function tooMany(what: string): string {
  return `The workspace has more than ${what}, so that it cannot be made safe for a command. Nothing was run.`;
}

/** Asks the full question only about names that can be the first of a pattern's places. */
function matcher(patterns: readonly string[]): (path: string, name: string) => boolean {
  const named = patterns.map((pattern) => {
    const last = normalizePattern(pattern).replace(/\/\*$/, "").split("/").at(-1) ?? "";
    return { pattern, last: /[*?]/.test(last) || last === "" ? undefined : last };
  });
  return (path, name) =>
    named.some(({ pattern, last }) => (last === undefined || last === name) && matchesPath(pattern, path));
}

async function listFolder(path: string): Promise<Listing> {
  try {
    return await Array.fromAsync(Deno.readDir(path));
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory) return [];
    if (error instanceof Deno.errors.PermissionDenied) return "unreadable";
    throw error;
  }
}
