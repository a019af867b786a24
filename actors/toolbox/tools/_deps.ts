/**
 * What the built-in tools are made with, and the small pieces that several of them share.
 */
import type { Clock } from "../../../lib/clock.ts";
import type { TouchedPath } from "../../protocol/tools.ts";
import { type Resolved, resolvePath } from "../files/virtual_path.ts";
import { FileProblem, type WorkspaceFiles } from "../files/workspace_files.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import type { Description, Outcome, Place } from "../tool.ts";

/** Everything that a built-in tool may need. */
export interface ToolDeps {
  readonly files: WorkspaceFiles;
  readonly sandbox: Sandbox;
  readonly clock: Clock;
  /** IANA name. */
  readonly timeZone: string;
}

/** The description of a call that asked for something outside its workspace; policy always refuses it. */
export function outsideOf(asked: string, summary: string): Description {
  return { summary, paths: [], outside: [asked], risk: "high" };
}

/** A failure for the model. */
export function failed(text: string): Outcome {
  return { ok: false, text };
}

/** Runs `use` on the resolved path; everything that can be wrong with a file becomes a failure that the model reads. */
export async function withPath(
  place: Place,
  asked: string,
  use: (at: Resolved) => Promise<Outcome>,
): Promise<Outcome> {
  const found = await resolvePath(place.root, asked);
  if (!found.ok) return failed(`"${found.outside}" is outside the workspace.`);
  try {
    return await use(found.at);
  } catch (error) {
    if (error instanceof FileProblem) return failed(`${error.message}.`);
    throw error;
  }
}

/** A path as policy sees it, with the digest of its present content if it is a file that can be read whole. */
export async function touch(
  files: WorkspaceFiles,
  place: Place,
  touched: { at: Resolved; access: TouchedPath["access"] },
): Promise<{ path: TouchedPath; bytes?: Uint8Array }> {
  const { at, access } = touched;
  const path = { path: at.path, access, exists: at.kind !== "missing" };
  if (at.kind !== "file") return { path };
  try {
    const content = await files.read(place, at);
    return { path: { ...path, sha256: content.sha256 }, bytes: content.bytes };
  } catch (error) {
    if (error instanceof FileProblem) return { path };
    throw error;
  }
}

/** True when the file is still the one that was described. */
export function isAsDescribed(
  paths: readonly TouchedPath[],
  at: Resolved,
  sha256: string | undefined,
): boolean {
  const described = paths.find((path) => path.path === at.path);
  return described !== undefined && described.sha256 === sha256;
}

/** What the model is told when a file is not the one that was judged. */
export const CHANGED =
  "The file was changed since this call was approved, so nothing was done. Read it again.";

/** Text of a file, or undefined when it is not UTF-8. */
export function textOf(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
