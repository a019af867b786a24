/**
 * The built UI as files in memory: listed once, so that no request can name a path outside the folder. Hashed names never change and may be kept
 * for ever; everything else is asked for again with its ETag. Proven by `edge/app_test.ts`.
 */
import { createHash } from "node:crypto";
import { join, relative } from "node:path";

/** One file, ready to be sent. */
export interface UiFile {
  readonly body: Uint8Array<ArrayBuffer>;
  readonly type: string;
  readonly etag: string;
  /** The name holds the content's hash. */
  readonly immutable: boolean;
}

/** Where the UI comes from. `path` starts with a slash; unknown paths give undefined. */
export interface UiFiles {
  get(path: string): UiFile | undefined;
}

const TYPES: Readonly<Record<string, string>> = {
  css: "text/css; charset=utf-8",
  html: "text/html; charset=utf-8",
  ico: "image/x-icon",
  js: "text/javascript; charset=utf-8",
  json: "application/json",
  map: "application/json",
  png: "image/png",
  svg: "image/svg+xml",
  txt: "text/plain; charset=utf-8",
  webmanifest: "application/manifest+json",
  woff2: "font/woff2",
};

/** Files under given paths. */
export function memoryUi(files: Readonly<Record<string, string | Uint8Array<ArrayBuffer>>>): UiFiles {
  const known = new Map(Object.entries(files).map(([path, content]) => [path, uiFile(path, content)]));
  return { get: (path) => known.get(path) };
}

/** Reads a folder once. Rejects with an error that says what to do when it is not there. */
export async function folderUi(folder: string): Promise<UiFiles> {
  const files: Record<string, Uint8Array<ArrayBuffer>> = {};
  try {
    for await (const path of filesUnder(folder)) {
      files[`/${relative(folder, path)}`] = await Deno.readFile(path);
    }
  } catch (cause) {
    if (!(cause instanceof Deno.errors.NotFound)) throw cause;
    throw new Error(
      `the pages are not built (${folder} is missing): run "deno task build", or start with "deno task start"`,
      {
        cause,
      },
    );
  }
  return memoryUi(files);
}

async function* filesUnder(folder: string): AsyncGenerator<string> {
  for await (const entry of Deno.readDir(folder)) {
    const path = join(folder, entry.name);
    if (entry.isDirectory) yield* filesUnder(path);
    else if (entry.isFile) yield path;
  }
}

function uiFile(path: string, content: string | Uint8Array<ArrayBuffer>): UiFile {
  const body = typeof content === "string" ? new TextEncoder().encode(content) : content;
  const extension = /\.([a-z0-9]+)$/.exec(path)?.[1] ?? "";
  return {
    body,
    type: TYPES[extension] ?? "application/octet-stream",
    etag: `"${createHash("sha256").update(body).digest("hex").slice(0, 32)}"`,
    immutable: /-[A-Z0-9]{8}\.[a-z0-9]+(\.map)?$/.test(path),
  };
}
