/**
 * What the machine must offer: Deno's version, a data folder with room, a sandbox, a free port. Leaves nothing behind. Proven by
 * `doctor_test.ts`.
 */
import { dirname } from "node:path";
import { ToolboxConfig } from "../../actors/toolbox/config.ts";
import { writeEtc } from "../../actors/toolbox/sandbox/bwrap.ts";
import { probeSandbox } from "../../actors/toolbox/sandbox/probe.ts";
import { systemClock } from "../../lib/clock.ts";
import { LEAST_FREE_BYTES } from "../watch/disk.ts";
import { type Finding, findingsOf, wordsOf } from "./finding.ts";

const LEAST_DENO = [2, 9] as const;

/** Whether this Deno is new enough: 2.9 within 2.x. */
export function checkDeno(version: string): Finding {
  const { ok, bad } = findingsOf("Deno");
  const [major = 0, minor = 0] = version.split(".").map(Number);
  if (major === LEAST_DENO[0] && minor >= LEAST_DENO[1]) return ok(version);
  return bad(`${version} is not ${LEAST_DENO.join(".")} or a later 2.x; run: npx -y deno@2.9.6 task start`);
}

/** Whether the data folder can be written, and has room. */
export async function checkDataFolder(
  folder: string,
  freeBytes: (folder: string) => Promise<number>,
): Promise<Finding> {
  const { ok, bad } = findingsOf("Data folder");
  const there = await exists(folder);
  const place = there ? folder : await nearest(folder);
  try {
    await Deno.remove(await Deno.makeTempFile({ dir: place, prefix: ".callboard-doctor-" }));
    const free = await freeBytes(place);
    const megabytes = `${Math.floor(free / 1e6)} MB free`;
    if (free < LEAST_FREE_BYTES) {
      return bad(`${folder}: ${megabytes}; below ${LEAST_FREE_BYTES / 1e6} MB no turn starts. Make room.`);
    }
    return ok(`${folder}${there ? "" : " (will be made)"}, ${megabytes}`);
  } catch (error) {
    return bad(
      `${folder} cannot be written: ${wordsOf(error)}. Give this user the right, or set CALLBOARD_DATA.`,
    );
  }
}

/** Whether commands can be run in a sandbox. */
export async function checkSandbox(timeZone: string): Promise<Finding> {
  const { ok, warn } = findingsOf("Sandbox");
  const folder = await Deno.makeTempDir({ prefix: "callboard-doctor-" });
  try {
    const [etc, workspace] = [`${folder}/etc`, `${folder}/workspace`];
    await writeEtc(etc);
    await Deno.mkdir(workspace);
    const settings = ToolboxConfig.parse({ workspaces: folder, mcpServers: [], timeZone });
    const { mode, detail } = await probeSandbox({ ...settings, etc, clock: systemClock }, workspace);
    if (mode === "bwrap") return ok(detail);
    const cure =
      "On Debian and Ubuntu: apt-get install bubblewrap, then sysctl -w kernel.unprivileged_userns_clone=1 " +
      "and, where AppArmor restricts it, sysctl -w kernel.apparmor_restrict_unprivileged_userns=0";
    return warn(`${detail.replaceAll(/\s+/g, " ")} ${cure}`);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** Whether the port is free, or ours. */
export async function checkPort(host: string, port: number): Promise<Finding> {
  const { ok, bad } = findingsOf("Port");
  const at = `${host}:${port}`;
  if (port === 0) return ok("any free one");
  try {
    Deno.listen({ hostname: host, port }).close();
    return ok(`${at} is free`);
  } catch (error) {
    if (!(error instanceof Deno.errors.AddrInUse)) {
      return bad(`${at} cannot be listened on: ${wordsOf(error)}. Set PORT and HOST.`);
    }
    if (await isCallboard(port)) return ok(`${at} is in use by a Callboard that answers`);
    return bad(`${at} is in use by another program. End it, or set PORT.`);
  }
}

async function isCallboard(port: number): Promise<boolean> {
  try {
    const response = await fetch(`http://localhost:${port}/healthz`, { signal: AbortSignal.timeout(2_000) });
    return (await response.text()) === '{"ok":true}';
  } catch {
    return false;
  }
}

async function exists(path: string): Promise<boolean> {
  return await Deno.stat(path).then(() => true, () => false);
}

/** The closest folder above that is there. */
async function nearest(path: string): Promise<string> {
  const above = dirname(path);
  return above === path || await exists(above) ? above : await nearest(above);
}
