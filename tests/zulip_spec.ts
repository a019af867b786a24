/**
 * Zulip's own API specification and its sample data, for tests to be held against.
 *
 * The data is not part of this repository: `CALLBOARD_ZULIP_SPEC` names its folder, by default `../shared/zulip` beside the repository. Where it is
 * missing, tests that need it are skipped with a message, or fail when `CI` is set.
 */
import { join } from "node:path";
import { parse } from "yaml";

/** The specification's feature level that we write to. */
const SPEC_FILE = "openapi/zulip-fl420.yaml";

const folder = Deno.env.get("CALLBOARD_ZULIP_SPEC") ??
  join(import.meta.dirname ?? ".", "..", "..", "shared", "zulip");

function isThere(): boolean {
  try {
    return Deno.statSync(join(folder, SPEC_FILE)).isFile;
  } catch {
    return false;
  }
}

/** `Deno.test` for a promise that only the specification can prove. */
export function zulipSpecTest(name: string, fn: (t: Deno.TestContext) => void | Promise<void>): void {
  const present = isThere();
  if (!present && Deno.env.get("CI")) {
    Deno.test(name, () => {
      throw new Error(
        `the Zulip specification is missing; set CALLBOARD_ZULIP_SPEC to its folder (looked in ${folder})`,
      );
    });
    return;
  }
  if (!present) console.warn(`skipped, no Zulip specification in CALLBOARD_ZULIP_SPEC: ${name}`);
  Deno.test({ name, ignore: !present, fn });
}

/** The parsed OpenAPI document. Takes about half a second. */
export function loadZulipSpec(): unknown {
  return parse(Deno.readTextFileSync(join(folder, SPEC_FILE)), { maxAliasCount: -1 });
}

/** One sample as text, by its path under `examples/`. */
export function zulipExampleText(path: string): string {
  return Deno.readTextFileSync(join(folder, "examples", path));
}

/** Every sample in a folder of `examples/`, such as `events`; subfolders too. Name without `.json`, parsed content. */
export function zulipExamples(under: string): { name: string; json: unknown }[] {
  const base = join(folder, "examples", under);
  const found: { name: string; json: unknown }[] = [];
  const walk = (path: string, prefix: string) => {
    for (const entry of [...Deno.readDirSync(path)].sort((a, b) => a.name.localeCompare(b.name))) {
      if (entry.isDirectory) walk(join(path, entry.name), `${prefix}${entry.name}/`);
      else if (entry.name.endsWith(".json")) {
        const json: unknown = JSON.parse(Deno.readTextFileSync(join(path, entry.name)));
        found.push({ name: prefix + entry.name.slice(0, -".json".length), json });
      }
    }
  };
  walk(base, "");
  return found;
}
