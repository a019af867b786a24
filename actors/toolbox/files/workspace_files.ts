/**
 * Reads, writes and lists files of one workspace through scripts in the sandbox. Promises that what is read or replaced is the resolved
 * path itself, that a write happens whole or not at all, and only over the content that the caller names by its digest. It does not know
 * tools. Proven by `files_test.ts`.
 */
import type { Exit } from "../sandbox/process.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import { codes, LIST, READ, WRITE } from "./_scripts.ts";
import type { Resolved } from "./virtual_path.ts";

/** Largest file that the file tools take, in bytes. */
export const MAX_FILE_BYTES = 16 * 1024 * 1024;

/** A file's content with its digest. */
export interface Content {
  readonly bytes: Uint8Array;
  /** Hex. */
  readonly sha256: string;
}

/** One entry of a listing; `path` is relative to the listed folder. */
export interface Entry {
  readonly path: string;
  readonly kind: "file" | "directory" | "link" | "other";
  readonly size: number;
}

/** Why a file could not be used; `text` is for the model. */
export class FileProblem extends Error {
  override readonly name = "FileProblem";
  constructor(readonly kind: "missing" | "changed" | "unfit", message: string) {
    super(message);
  }
}

/** The workspace of one conversation. */
export interface Workspace {
  /** Host folder, without links. */
  readonly root: string;
}

const TIMEOUT_MS = 30_000;

/** File access for all workspaces. Every method rejects with `FileProblem` for what the model can be told. */
export class WorkspaceFiles {
  constructor(private readonly sandbox: Sandbox) {}

  /** The whole file at a resolved path. */
  async read(workspace: Workspace, at: Resolved): Promise<Content> {
    const [folder, name] = this.#split(workspace, at);
    const { exit, bytes } = await this.#run(workspace, READ, [folder, name, String(MAX_FILE_BYTES)]);
    this.#check(exit, at);
    return { bytes, sha256: await sha256Of(bytes) };
  }

  /** Replaces (or makes) the file. `expected` is the digest of what is there now, undefined for nothing. */
  async write(
    workspace: Workspace,
    at: Resolved,
    options: { content: Uint8Array; expected: string | undefined },
  ): Promise<void> {
    const name = at.rest.at(-1);
    if (name === undefined) throw new FileProblem("unfit", `${at.path} is a folder`);
    const folder = this.#folder(workspace, at);
    const args = [folder, name, options.expected ?? "-", ...at.rest.slice(0, -1)];
    const { exit } = await this.#run(workspace, WRITE, args, options.content);
    this.#check(exit, at);
  }

  /** What lies below a folder, in the order of its paths. At most `limit` entries. */
  async list(
    workspace: Workspace,
    at: Resolved,
    options: { depth: number; limit: number },
  ): Promise<Entry[]> {
    if (at.kind === "missing") throw new FileProblem("missing", `${at.path} does not exist`);
    if (at.kind !== "directory") throw new FileProblem("unfit", `${at.path} is no folder`);
    const folder = this.#folder(workspace, at);
    const { exit, bytes } = await this.#run(workspace, LIST, [
      folder,
      String(options.depth),
      String(options.limit),
    ]);
    this.#check(exit, at);
    return new TextDecoder().decode(bytes).split("\0").flatMap(toEntry)
      .sort((a, b) => a.path < b.path ? -1 : a.path > b.path ? 1 : 0);
  }

  #folder(workspace: Workspace, at: Resolved): string {
    return [this.sandbox.rootOf(workspace.root), ...at.folders].join("/");
  }

  #split(workspace: Workspace, at: Resolved): [string, string] {
    const [name, ...more] = at.rest;
    if (name === undefined) throw new FileProblem("unfit", `${at.path} is a folder`);
    if (more.length > 0) throw new FileProblem("missing", `${at.path} does not exist`);
    return [this.#folder(workspace, at), name];
  }

  async #run(workspace: Workspace, script: string, args: string[], stdin: Uint8Array = new Uint8Array()) {
    const chunks: Uint8Array[] = [];
    const exit = await this.sandbox.run({
      script,
      args,
      workspace: workspace.root,
      stdin,
      timeoutMs: TIMEOUT_MS,
      signal: new AbortController().signal,
      onOutput: (stream, bytes) => {
        if (stream === "stdout") chunks.push(bytes);
      },
    });
    return { exit, bytes: await new Blob(chunks.map((chunk) => new Uint8Array(chunk))).bytes() };
  }

  #check(exit: Exit, at: Resolved): void {
    switch (exit.code) {
      case 0:
        return;
      case codes.missing:
        throw new FileProblem("missing", `${at.path} does not exist`);
      case codes.directory:
        throw new FileProblem("unfit", `${at.path} is a folder`);
      case codes.special:
        throw new FileProblem("unfit", `${at.path} is no regular file`);
      case codes.moved:
        throw new FileProblem("changed", `${at.path} was changed or replaced meanwhile`);
      case codes.large:
        throw new FileProblem(
          "unfit",
          `${at.path} is larger than ${MAX_FILE_BYTES} bytes; read a part with a command`,
        );
      default:
        throw new FileProblem("unfit", `${at.path} could not be used (status ${exit.code})`);
    }
  }
}

/** SHA-256 of bytes, hex. */
export async function sha256Of(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex();
}

const kinds: Readonly<Record<string, Entry["kind"]>> = { f: "file", d: "directory", l: "link" };

function toEntry(line: string): Entry[] {
  const match = /^(\S) (\d+) ([^]+)$/.exec(line);
  if (match?.[3] === undefined) return [];
  return [{ kind: kinds[match[1] ?? ""] ?? "other", size: Number(match[2]), path: match[3] }];
}
