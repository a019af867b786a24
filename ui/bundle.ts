/**
 * Builds the UI into a folder: scripts and styles with the hash of their content in the name, `index.html` that names them, the service worker that
 * lists them, and the static files. Nothing is written when no input changed since the last build. The folder is what `edge/ui_files.ts` serves. Proven
 * by `bundle_test.ts`.
 */
import * as esbuild from "esbuild";
import { createHash } from "node:crypto";
import { basename, dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const folder = dirname(fileURLToPath(import.meta.url));

/** Entry points by the name that `index.html` gives them. */
const ENTRIES = {
  main: "main.tsx",
  styles: "styles/app.css",
  theme_boot: "theme_boot.ts",
} as const;

/** Where the UI goes. */
export interface BundleUiOptions {
  readonly outDir: string;
}

/** Builds the UI and returns the files that were written. Rejects with esbuild's error when it does not compile. */
export async function bundleUi({ outDir }: BundleUiOptions): Promise<string[]> {
  const out = resolve(outDir);
  const stamp = join(dirname(out), `${basename(out)}.inputs`);
  const key = await inputsDigest();
  if (await readText(stamp) === key && await readText(join(out, "index.html")) !== undefined) return [];
  const files = await makeFiles();
  await Deno.remove(out, { recursive: true }).catch(ignoreMissing);
  await Deno.mkdir(out, { recursive: true });
  for (const [name, content] of files) await Deno.writeFile(join(out, name), content);
  await Deno.writeTextFile(stamp, key);
  return [...files.keys()].map((name) => join(out, name));
}

type Files = Map<string, Uint8Array>;

const common = {
  absWorkingDir: folder,
  bundle: true,
  charset: "utf8",
  format: "esm",
  jsx: "transform",
  jsxFactory: "h",
  jsxFragment: "Fragment",
  legalComments: "none",
  logLevel: "warning",
  minify: true,
  platform: "browser",
  target: "es2024",
  write: false,
} as const satisfies esbuild.BuildOptions;

const hashed = {
  ...common,
  entryNames: "[name]-[hash]",
  outdir: folder,
  metafile: true,
} as const satisfies esbuild.BuildOptions;

async function makeFiles(): Promise<Files> {
  try {
    const files = await makeHashed();
    for await (const { name } of Deno.readDir(join(folder, "static"))) {
      if (!files.has(name)) files.set(name, await Deno.readFile(join(folder, "static", name)));
    }
    files.set("sw.js", await makeWorker(files));
    return files;
  } finally {
    await esbuild.stop();
  }
}

/** Scripts and styles, and the index that names them. Only the page's script is given what elements are made with. */
async function makeHashed(): Promise<Files> {
  const { main, ...others } = ENTRIES;
  const builds = await Promise.all([
    esbuild.build({ ...hashed, entryPoints: { main }, inject: [join(folder, "jsx.ts")] }),
    esbuild.build({ ...hashed, entryPoints: others }),
  ]);
  let index = await Deno.readTextFile(join(folder, "static/index.html"));
  const files: Files = new Map();
  for (const { outputFiles, metafile } of builds) {
    for (const [path, { entryPoint }] of Object.entries(metafile.outputs)) {
      const entry = Object.entries(ENTRIES).find(([, source]) => source === entryPoint);
      if (entry) index = index.replace(`%${entry[0]}%`, `/${basename(path)}`);
    }
    for (const { path, contents } of outputFiles) files.set(basename(path), contents);
  }
  return files.set("index.html", new TextEncoder().encode(index));
}

/** The service worker with the list of what it keeps. */
async function makeWorker(files: Files): Promise<Uint8Array> {
  const hash = createHash("sha256");
  for (const [name, content] of [...files].sort(([a], [b]) => a < b ? -1 : 1)) {
    hash.update(name).update(content);
  }
  const shell = {
    version: hash.digest("hex").slice(0, 16),
    files: [...files.keys()].filter((name) => !name.endsWith(".png")).map((name) => `/${name}`).sort(),
  };
  const { outputFiles: [worker] } = await esbuild.build({
    ...common,
    entryPoints: ["sw.ts"],
    format: "iife",
    define: { SHELL: JSON.stringify(shell) },
  });
  if (worker === undefined) {
    throw new Error("The service worker's build made no file; see esbuild's messages above");
  }
  return worker.contents;
}

/** One digest over the sources of the UI and of what it shares, and the versions of what goes in. */
async function inputsDigest(): Promise<string> {
  const root = dirname(folder);
  const hash = createHash("sha256").update(esbuild.version);
  // Of `edge/api.ts` only types are used, which leave no trace in the bundle.
  const paths = [join(root, "deno.lock")];
  for (const part of ["ui", "lib"]) paths.push(...await sourcesUnder(join(root, part)));
  for (const path of paths.sort()) hash.update(relative(root, path)).update(await Deno.readFile(path));
  return hash.digest("hex");
}

async function sourcesUnder(path: string): Promise<string[]> {
  const found: string[] = [];
  for await (const entry of Deno.readDir(path)) {
    const full = join(path, entry.name);
    if (entry.isDirectory) found.push(...await sourcesUnder(full));
    else if (!/_test\.tsx?$/.test(entry.name)) found.push(full);
  }
  return found;
}

async function readText(path: string): Promise<string | undefined> {
  try {
    return await Deno.readTextFile(path);
  } catch (error) {
    return ignoreMissing(error);
  }
}

function ignoreMissing(error: unknown): undefined {
  if (!(error instanceof Deno.errors.NotFound)) throw error;
}
