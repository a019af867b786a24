/**
 * The command lines of child processes: explicit configuration and flags, an environment that is empty but for what Deno needs to find its
 * cache. Pure. Proven by `runtime/supervise/policy_test.ts`.
 */
import type { ProcessSpec } from "./process_link.ts";
import type { GatewayKind } from "../vocabulary.ts";

/** What every child is started with. */
export interface ChildOptions {
  /** Absolute path of `deno.json`. */
  readonly config: string;
  readonly heapMb: number;
  /** Variables that Deno itself needs, such as `DENO_DIR` and `HOME`. */
  readonly env: Readonly<Record<string, string>>;
}

/** A pure host: may read the bundles' folders and nothing else but its own link. */
export function hostSpec(
  entry: string,
  options: ChildOptions & { readonly read: readonly string[] },
): ProcessSpec {
  const flags = [...common(options), `--allow-read=${options.read.join(",")}`];
  return { flags, entry, env: environment(options) };
}

/** A gateway: exactly its own flags. */
export function gatewayProcess(kind: GatewayKind, options: ChildOptions): ProcessSpec {
  return {
    flags: [...common(options), ...kind.flags],
    entry: kind.entry,
    env: { ...environment(options), ...kind.env },
  };
}

/** What a child prints goes to a log, which has no colours. Two arenas: by default each thread of glibc's keeps what it freed for itself. */
function environment({ env }: ChildOptions): Record<string, string> {
  return { ...env, NO_COLOR: "1", MALLOC_ARENA_MAX: "2" };
}

/** A young generation of 1 MiB: the default grows to 16 in every isolate, for a few per cent of its time when it is busy. */
function common({ config, heapMb }: ChildOptions): string[] {
  return [
    "--quiet",
    "--config",
    config,
    "--cached-only",
    "--frozen",
    "--no-prompt",
    `--v8-flags=--max-old-space-size=${heapMb},--max-semi-space-size=1`,
  ];
}
