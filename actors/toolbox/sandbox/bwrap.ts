/**
 * The sandbox's recipe as a bwrap command line. Pure. Promises: nothing of the host but a read-only `/usr`, no network unless asked for,
 * one writable folder, a private `/tmp` and `/proc`, no capabilities, and that everything inside dies with bwrap. Hidden places of the writable
 * folder are empty and cannot be moved, nor can any folder above them. It does not know what runs inside. Proven by `tools/tools_test.ts` against the real program.
 */

import type { HiddenPlace } from "./hidden_places.ts";

/** Where the writable folder appears inside. */
export const WORKSPACE = "/workspace";

/** What a sandbox is opened for. */
export interface SandboxOptions {
  /** Host folder bound writable at `/workspace`. */
  readonly workspace: string;
  /** Host folder with the few files of `/etc` (`writeEtc`). */
  readonly etc: string;
  /** What of it must not be seen. */
  readonly hidden?: readonly HiddenPlace[] | undefined;
  /** Folder inside to start in. */
  readonly cwd?: string | undefined;
  /** Host paths bound read-only at the same place inside. */
  readonly readOnly?: readonly string[] | undefined;
  /** Keeps the host's network; default none, not even the host's loopback. */
  readonly network?: boolean | undefined;
}

const TMP_BYTES = 268_435_456;

/** Files that a program with network needs from the host's `/etc`. */
const NETWORK_FILES = ["/etc/resolv.conf", "/etc/hosts", "/etc/ssl", "/etc/ca-certificates", "/etc/pki"];

const tryBind = (path: string) => ["--ro-bind-try", path, path];

/**
 * bwrap's arguments up to the program to run. The environment is the one that bwrap itself is started with: the caller clears it, and
 * no secret shows up in a command line.
 */
export function bwrapArgs(options: SandboxOptions): string[] {
  return [
    ...["--ro-bind", "/usr", "/usr"],
    ...["/bin", "/sbin", "/lib", "/lib64"].flatMap(tryBind),
    ...["--dir", "/etc"],
    ...["passwd", "group"].flatMap((file) => ["--ro-bind", `${options.etc}/${file}`, `/etc/${file}`]),
    ...["/etc/alternatives", "/etc/ld.so.cache", "/etc/localtime"].flatMap(tryBind),
    ...(options.network ? NETWORK_FILES.flatMap(tryBind) : []),
    ...["--proc", "/proc", "--dev", "/dev"],
    ...["--size", String(TMP_BYTES), "--tmpfs", "/tmp"],
    ...(options.readOnly ?? []).flatMap((path) => ["--ro-bind", path, path]),
    ...["--bind", options.workspace, WORKSPACE],
    ...hide(options.workspace, options.hidden ?? []),
    ...["--chdir", options.cwd ?? WORKSPACE],
    ...["--unshare-all", "--unshare-user", ...(options.network ? ["--share-net"] : [])],
    ...["--uid", "1000", "--gid", "1000", "--cap-drop", "ALL"],
    ...["--hostname", "sandbox", "--die-with-parent", "--new-session"],
    ...["--remount-ro", "/", "--"],
  ];
}

/**
 * Covers the places up. A folder above one is bound to itself, since the system lets nobody rename what something is mounted on: moved away, its
 * places would have another path in the next run, and perhaps one that no rule protects.
 */
function hide(workspace: string, places: readonly HiddenPlace[]): string[] {
  const above = new Set(places.flatMap(({ path }) => {
    const names = path.split("/").slice(1, -1);
    return names.map((_, index) => `/${names.slice(0, index + 1).join("/")}`);
  }));
  const inside = ({ path }: Pick<HiddenPlace, "path">) => path === "/" ? WORKSPACE : `${WORKSPACE}${path}`;
  return [
    ...[...above].sort().flatMap((path) => ["--bind", `${workspace}${path}`, inside({ path })]),
    ...places.flatMap((place) =>
      place.kind === "file"
        ? ["--ro-bind", "/dev/null", inside(place)]
        : ["--tmpfs", inside(place), "--remount-ro", inside(place)]
    ),
  ];
}

/** Makes the folder that stands in for `/etc`: names for the one user inside. */
export async function writeEtc(folder: string): Promise<void> {
  await Deno.mkdir(folder, { recursive: true, mode: 0o700 });
  await Deno.writeTextFile(`${folder}/passwd`, "agent:x:1000:1000::/workspace:/bin/bash\n");
  await Deno.writeTextFile(`${folder}/group`, "agent:x:1000:\n");
}

/** The whole environment of what runs for a conversation. */
export function cleanEnv(timeZone: string): Record<string, string> {
  return {
    PATH: "/usr/local/bin:/usr/bin:/bin",
    HOME: WORKSPACE,
    LANG: "C.UTF-8",
    TERM: "dumb",
    TZ: timeZone,
  };
}
