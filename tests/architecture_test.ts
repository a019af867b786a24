/**
 * Holds the folders to their one-way imports and the dependencies to their one importer.
 */
import assert from "node:assert/strict";
import { dirname, join, normalize, relative } from "node:path";

const root = new URL("..", import.meta.url).pathname;

/** What each room may import, besides itself, `lib` and npm packages. */
const rooms: Readonly<Record<string, readonly string[]>> = {
  lib: [],
  store: ["lib"],
  runtime: ["lib", "store"],
  zulip: ["lib"],
  // `actors/protocol*` is the shared vocabulary and has a room of its own.
  protocol: ["lib"],
  actors: ["lib", "store", "runtime", "zulip", "protocol"],
  edge: ["lib", "store", "zulip", "protocol", "api"],
  ui: ["lib", "protocol", "api"],
  // `edge/api.ts` holds the wire types that the UI is written to.
  api: ["lib", "protocol"],
};

/** npm packages that exactly one file of the product may import. */
const onlyImporter: Readonly<Record<string, string>> = {
  "@earendil-works/pi-ai": "actors/models/pi/pi_stream.ts",
  "libsql": "store/_prepared.ts",
  "@libsql/client/web": "store/web_db.ts",
  "croner": "actors/scheduler/cron.ts",
  "uuidv7": "lib/ids.ts",
  "@simplewebauthn/server": "edge/webauthn.ts",
};

interface Import {
  readonly file: string;
  readonly specifier: string;
  readonly typeOnly: boolean;
}

function roomOf(path: string): string | undefined {
  if (path === "edge/api.ts" || path.startsWith("edge/api/")) return "api";
  if (path === "actors/protocol.ts" || path.startsWith("actors/protocol/")) return "protocol";
  const [first, ...rest] = path.split("/");
  return first && rest.length > 0 && first in rooms ? first : undefined;
}

async function* sources(folder: string): AsyncGenerator<string> {
  for await (const entry of Deno.readDir(join(root, folder))) {
    const path = join(folder, entry.name);
    if (entry.isDirectory) yield* sources(path);
    else if (/\.tsx?$/.test(entry.name) && !/_test\.tsx?$/.test(entry.name)) yield path;
  }
}

async function importsOf(file: string): Promise<Import[]> {
  const text = await Deno.readTextFile(join(root, file));
  const pattern = /^\s*(?:import|export)\s+(type\s+)?(?:[^"';]*?\sfrom\s+)?"([^"]+)"/gm;
  return [...text.matchAll(pattern)].map((match) => ({
    file,
    typeOnly: match[1] !== undefined,
    specifier: match[2] ?? "",
  }));
}

async function allImports(): Promise<Import[]> {
  const found: Import[] = [];
  for (const folder of ["lib", "store", "runtime", "zulip", "actors", "edge", "ui"]) {
    for await (const file of sources(folder)) found.push(...await importsOf(file));
  }
  return found;
}

Deno.test("folders import in one direction only", async () => {
  const imports = await allImports();

  const wrong = imports.filter(({ file, specifier }) => {
    if (!specifier.startsWith(".")) return false;
    const target = relative(root, normalize(join(root, dirname(file), specifier)));
    const from = roomOf(file);
    const to = roomOf(target);
    return from !== undefined && from !== to && (to === undefined || !rooms[from]?.includes(to));
  });

  assert.deepEqual(wrong, []);
  assert.ok(imports.length > 100, "the scan found the sources");
});

Deno.test("a wrapped dependency has one importer", async () => {
  const imports = await allImports();

  const wrong = imports.filter(({ file, specifier, typeOnly }) => {
    const owner = onlyImporter[specifier];
    return owner !== undefined && owner !== file && !typeOnly;
  });

  assert.deepEqual(wrong, []);
});

Deno.test("actors of one kind do not import those of another", async () => {
  const imports = await allImports();

  const wrong = imports.filter(({ file, specifier }) => {
    if (!specifier.startsWith(".")) return false;
    const target = relative(root, normalize(join(root, dirname(file), specifier)));
    const [, own] = file.match(/^actors\/(\w+)\//) ?? [];
    const [, other] = target.match(/^actors\/(\w+)\//) ?? [];
    return own !== undefined && other !== undefined && own !== other && own !== "protocol" &&
      other !== "protocol";
  });

  assert.deepEqual(wrong, []);
});
