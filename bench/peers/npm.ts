/**
 * Installs a peer from npm at bench time, into a folder of its own outside the repository, exact versions only: peers are no dependencies of the
 * product. An install that is there already is used again.
 */
import { join } from "node:path";

/** Installs the packages; returns the folder that holds `node_modules`, or why there is none. */
export async function npmInstall(
  name: string,
  packages: Readonly<Record<string, string>>,
): Promise<{ readonly folder: string } | { readonly missing: string }> {
  const folder = join(Deno.env.get("TMPDIR") ?? "/tmp", "callboard-bench-peers", name);
  await Deno.mkdir(folder, { recursive: true });
  const wanted = JSON.stringify({ private: true, dependencies: packages });
  const mark = join(folder, "installed.json");
  if (await readOr(mark) === wanted) return { folder };
  try {
    await Deno.writeTextFile(join(folder, "package.json"), wanted);
    const npm = await new Deno.Command("npm", {
      args: ["install", "--no-audit", "--no-fund", "--loglevel=error"],
      cwd: folder,
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
    }).output();
    if (!npm.success) return { missing: new TextDecoder().decode(npm.stderr).trim().slice(0, 300) };
    await Deno.writeTextFile(mark, wanted);
    return { folder };
  } catch (error) {
    return { missing: String(error) };
  }
}

async function readOr(path: string): Promise<string | undefined> {
  try {
    return await Deno.readTextFile(path);
  } catch {
    return undefined;
  }
}
