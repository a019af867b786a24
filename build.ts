/**
 * Bundles what runs outside the supervisor's own module graph: each pure actor's Worker entry becomes one file `build/actors/<kind>.js` that
 * begins with the Worker prelude. A bundle is made again only when one of its inputs changed: `build/manifest.json` holds the digest of
 * every file that went in. Run with `deno run -A build.ts`. Proven by `build_test.ts`.
 */
import * as esbuild from "esbuild";
import { createHash } from "node:crypto";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { workerPrelude } from "./runtime/worker_prelude.ts";
import { bundleUi } from "./ui/bundle.ts";

/** One bundle. Paths are relative to the repository root or absolute. */
export interface Bundle {
  readonly entry: string;
  readonly output: string;
  /** Text before the first statement. */
  readonly banner?: string | undefined;
  /** More esbuild options, for example JSX and loaders of the UI. */
  readonly options?: esbuild.BuildOptions | undefined;
}

/** The repository's root folder. */
export const root: string = dirname(fileURLToPath(import.meta.url));

/** The pure actors' bundles. */
export const actorBundles: readonly Bundle[] = ["conversation", "approval", "scheduler"].map((kind) =>
  workerBundle(`actors/${kind}/main.ts`, `build/actors/${kind}.js`)
);

/** Everything that `deno task build` makes. */
export const bundles: readonly Bundle[] = [...actorBundles];

/** The bundle of a pure Worker's entry. */
export function workerBundle(entry: string, output: string): Bundle {
  return { entry, output, banner: workerPrelude };
}

/** What was built before, by output. */
type Manifest = Record<string, { readonly key: string; readonly inputs: Readonly<Record<string, string>> }>;

/**
 * Builds what changed and returns the outputs that were written. Ends esbuild's service, so no process is left. Rejects with esbuild's
 * error when an entry does not compile.
 */
export async function build(
  list: readonly Bundle[],
  manifestPath: string = join(root, "build/manifest.json"),
): Promise<string[]> {
  const manifest = await readManifest(manifestPath);
  const written: string[] = [];
  let began = false;
  try {
    for (const bundle of list) {
      const known = manifest[bundle.output];
      if (known && known.key === keyOf(bundle) && await isFresh(bundle, known.inputs)) continue;
      began = true;
      manifest[bundle.output] = { key: keyOf(bundle), inputs: await make(bundle) };
      written.push(bundle.output);
    }
  } finally {
    if (began) await esbuild.stop();
  }
  if (written.length > 0) {
    await Deno.mkdir(dirname(manifestPath), { recursive: true });
    await Deno.writeTextFile(manifestPath, JSON.stringify(manifest, null, 1));
  }
  return written;
}

async function make(bundle: Bundle): Promise<Record<string, string>> {
  const result = await esbuild.build({
    absWorkingDir: root,
    entryPoints: [resolve(root, bundle.entry)],
    outfile: resolve(root, bundle.output),
    bundle: true,
    format: "esm",
    platform: "browser",
    target: "esnext",
    minify: true,
    keepNames: true,
    legalComments: "none",
    logLevel: "warning",
    metafile: true,
    ...(bundle.banner === undefined ? {} : { banner: { js: bundle.banner } }),
    ...bundle.options,
  });
  const inputs: Record<string, string> = {};
  for (const path of Object.keys(result.metafile?.inputs ?? {})) {
    const full = resolve(root, path);
    const hash = await digest(full);
    if (hash !== undefined) inputs[relative(root, full)] = hash;
  }
  return inputs;
}

/** Whether the output is there and no input differs. */
async function isFresh(bundle: Bundle, inputs: Readonly<Record<string, string>>): Promise<boolean> {
  if (await digest(resolve(root, bundle.output)) === undefined) return false;
  for (const [path, hash] of Object.entries(inputs)) {
    if (await digest(resolve(root, path)) !== hash) return false;
  }
  return true;
}

/** What the inputs do not show: how the bundle is made. */
function keyOf(bundle: Bundle): string {
  return createHash("sha256").update(JSON.stringify([esbuild.version, bundle])).digest("hex");
}

async function digest(path: string): Promise<string | undefined> {
  try {
    return createHash("sha256").update(await Deno.readFile(path)).digest("hex");
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

async function readManifest(path: string): Promise<Manifest> {
  try {
    return JSON.parse(await Deno.readTextFile(path)) as Manifest; // written by this file alone
  } catch {
    return {};
  }
}

if (import.meta.main) {
  for (const output of await build(bundles)) console.log(`built ${output}`);
  const ui = await bundleUi({ outDir: join(root, "build/ui") });
  if (ui.length > 0) console.log("built build/ui");
}
