/**
 * Paths as the model may write them: rooted at the conversation's workspace, resolved one component at a time like the operating system
 * does, so that a rule judges the very file that will be opened. A link may lead elsewhere inside the workspace; one that leads out, `..`
 * above the root and anything that cannot be a path are `outside`. It only looks at names and links, never at contents; a change after
 * the look is caught by whoever opens the path. Proven by `files_test.ts`.
 */
import { WORKSPACE } from "../sandbox/bwrap.ts";

/** What a path turned out to be. */
export type PathKind = "file" | "directory" | "other" | "missing";

/** A path inside the workspace without links, `.` or `..`. */
export interface Resolved {
  /** Starts with `/`; the root itself is `/`. */
  readonly path: string;
  readonly kind: PathKind;
  /** Components that exist as folders, from the root. */
  readonly folders: readonly string[];
  /** The rest. Empty for a folder; one name for a file; several when folders are missing too. */
  readonly rest: readonly string[];
}

/** `outside`: no path of this workspace. */
export type Resolution = { readonly ok: true; readonly at: Resolved } | {
  readonly ok: false;
  readonly outside: string;
};

/** What one look at a name tells; never follows a link. */
export interface Look {
  readonly kind: PathKind | "link";
  /** Of a link. */
  readonly target?: string;
}

/** Looks at an absolute host path. */
export type LookAt = (hostPath: string) => Promise<Look>;

const MAX_LINKS = 40;
/** Linux's limits, in bytes. */
const MAX_PATH = 4_000;
const MAX_NAME = 255;

/** Resolves what the model asked for. */
export async function resolvePath(
  root: string,
  asked: string,
  look: LookAt = lookOnDisk,
): Promise<Resolution> {
  const outside: Resolution = { ok: false, outside: asked.replaceAll("\0", "\\0").slice(0, 500) };
  if (asked.includes("\0") || bytesOf(asked) > MAX_PATH) return outside;
  const todo = components(asked);
  const folders: string[] = [];
  let links = 0;
  for (;;) {
    const name = todo.shift();
    if (name === undefined) return found(folders, [], "directory");
    if (name === "..") {
      if (folders.pop() === undefined) return outside;
      continue;
    }
    if (bytesOf(name) > MAX_NAME || todo.length > MAX_PATH) return outside;
    const seen = await look([root, ...folders, name].join("/"));
    if (seen.kind === "link") {
      const target = seen.target ?? "";
      if (++links > MAX_LINKS || target === "") return outside;
      if (target.startsWith("/")) {
        if (!isInWorkspace(target)) return outside;
        folders.length = 0;
      }
      todo.unshift(...components(target));
    } else if (seen.kind === "directory") {
      folders.push(name);
    } else {
      // Nothing lies below a file or a missing folder, so `..` after it names nothing that the system would open.
      if (todo.includes("..")) return outside;
      if (todo.length > 0 && seen.kind !== "missing") return found(folders, [name, ...todo], "missing");
      return found(folders, [name, ...todo], seen.kind);
    }
  }
}

function bytesOf(text: string): number {
  return new TextEncoder().encode(text).length;
}

function found(folders: readonly string[], rest: readonly string[], kind: PathKind): Resolution {
  return {
    ok: true,
    at: { path: `/${[...folders, ...rest].join("/")}`, kind, folders: [...folders], rest: [...rest] },
  };
}

/** `/workspace` is how commands see the root, so an absolute path may spell it that way. */
function components(path: string): string[] {
  const parts = path.split("/").filter((part) => part !== "" && part !== ".");
  return isInWorkspace(path) ? parts.slice(1) : parts;
}

function isInWorkspace(path: string): boolean {
  return path === WORKSPACE || path.startsWith(`${WORKSPACE}/`);
}

/** The file system's own answer. */
async function lookOnDisk(path: string): Promise<Look> {
  try {
    const info = await Deno.lstat(path);
    if (info.isSymlink) return { kind: "link", target: await Deno.readLink(path) };
    return { kind: info.isDirectory ? "directory" : info.isFile ? "file" : "other" };
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory) {
      return { kind: "missing" };
    }
    throw error;
  }
}
