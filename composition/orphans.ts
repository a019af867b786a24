/**
 * Ends what a killed supervisor left behind. Its children end with their link, but one that was stopped (SIGSTOP, a debugger) does not see that
 * and would stay for ever. Every life of a supervisor gives its children a random name in their environment and notes it in the data folder;
 * the next one ends the processes that still carry it and whose parent is gone. The name is in the process itself since its exec, so a
 * pid that was given to somebody else is never met. Linux only; elsewhere it does nothing. Proven by `orphans_test.ts`.
 */
import * as z from "zod";
import { newId } from "../lib/ids.ts";
import type { Log } from "../runtime/log.ts";

/** The environment variable that carries the name. */
const NAME = "CALLBOARD_TREE";

const Life = z.strictObject({ name: z.string().regex(/^[0-9a-f-]{36}$/), pid: z.int().positive() });
type Life = z.infer<typeof Life>;
const Lives = z.array(Life);

/** What it needs. */
export interface OrphanOptions {
  /** The file with the names; its folder exists. */
  readonly file: string;
  /** The supervisor's own process id. */
  readonly pid: number;
  readonly log: Log;
}

/** The children of this life, and those of lives before it that did not end in order. */
export class Orphans {
  /** To be added to the environment of every child. */
  readonly env: Readonly<Record<string, string>>;
  readonly #options: OrphanOptions;
  readonly #own: Life;
  #earlier: readonly Life[] = [];

  constructor(options: OrphanOptions) {
    this.#options = options;
    this.#own = { name: newId(), pid: options.pid };
    this.env = { [NAME]: this.#own.name };
  }

  /** Notes this life beside those that left their notes. Only for whoever has the lease: a second supervisor would write over the first. */
  async note(): Promise<void> {
    this.#earlier = await readLives(this.#options.file);
    await this.#write([...this.#earlier, this.#own]);
  }

  /** Ends what earlier lives left. Give their children time before: those that can, end by themselves. */
  async end(): Promise<void> {
    const kept: Life[] = [];
    for (const life of this.#earlier) {
      const found = await processesOf(life);
      for (const { pid } of found.filter(({ parent }) => parent !== life.pid)) {
        if (kill(pid)) this.#options.log("warn", "ended what a killed supervisor left behind", { pid });
      }
      if (found.some(({ parent }) => parent === life.pid)) kept.push(life);
    }
    this.#earlier = kept;
    await this.#write([...kept, this.#own]);
  }

  /** This life ended in order and left nothing. */
  async close(): Promise<void> {
    await this.#write(this.#earlier);
  }

  /** A file that cannot be written costs only what it is for. */
  async #write(lives: readonly Life[]): Promise<void> {
    const { file, log } = this.#options;
    try {
      await Deno.writeTextFile(`${file}.new`, JSON.stringify(lives));
      await Deno.rename(`${file}.new`, file);
    } catch (error) {
      log("warn", "the names of child processes cannot be written", { file, cause: String(error) });
    }
  }
}

async function readLives(file: string): Promise<Life[]> {
  try {
    return Lives.parse(JSON.parse(await Deno.readTextFile(file)));
  } catch {
    // There is none, or it is unreadable: then there is nothing that could be ended safely.
    return [];
  }
}

/** Processes that carry the life's name, with their parents: an orphan's is no longer its supervisor. */
async function processesOf({ name }: Life): Promise<{ pid: number; parent: number }[]> {
  // By a shell: Deno lets a program read below `/proc` only with all permissions.
  const named = await run(["sh", "-c", 'grep -sl "$1" /proc/[0-9]*/environ', "sh", `${NAME}=${name}`]);
  const files = [...named.matchAll(/^\/proc\/(\d+)\/environ$/gm)].map(([, pid]) => `/proc/${pid}/status`);
  if (files.length === 0) return [];
  const parents = await run(["grep", "-sH", "^PPid:", ...files]);
  return [...parents.matchAll(/^\/proc\/(\d+)\/status:PPid:\s+(\d+)$/gm)]
    .map(([, pid, parent]) => ({ pid: Number(pid), parent: Number(parent) }));
}

async function run([command = "", ...args]: readonly string[]): Promise<string> {
  try {
    const { stdout } = await new Deno.Command(command, { args, stdin: "null", stderr: "null" }).output();
    return new TextDecoder().decode(stdout);
  } catch {
    return "";
  }
}

/** SIGKILL also ends a stopped process. False when it has ended already. */
function kill(pid: number): boolean {
  try {
    Deno.kill(pid, "SIGKILL");
    return true;
  } catch {
    return false;
  }
}
