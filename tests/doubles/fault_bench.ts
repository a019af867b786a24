/**
 * What a test of a fault needs around a `TestRuntime`: a probe that keeps asking the bystanders and measures how long they were silent, the
 * ends that were written down, and what the kernel knows of the processes (Linux only, by `/proc`): gone, idle, orphans, zombies.
 */
import assert from "node:assert/strict";
import { type TestOptions, TestRuntime } from "./test_runtime.ts";

/** One row of `downs`. */
export interface Down {
  readonly ref: string;
  readonly incarnation: number;
  readonly reason: string;
  readonly suspect: number;
}

/** Every end that was written down, by actor, and of one actor the oldest first. */
export function downs(test: TestRuntime): Promise<Down[]> {
  return test.rows<Down>("SELECT ref, incarnation, reason, suspect FROM downs ORDER BY ref, incarnation");
}

/** The pid of the host that a live actor sits in. */
export async function pidOf(test: TestRuntime, ref: string): Promise<number> {
  await test.until(`${ref} lives`, () => test.view(ref)?.state === "live");
  const pid = test.view(ref)?.pid;
  assert.ok(pid);
  return pid;
}

/** Runs `body` on a runtime over a fresh database, stops it, and looks that no process is left. */
export async function withRuntime(
  body: (test: TestRuntime, folder: string) => Promise<void>,
  options: Omit<TestOptions, "folder"> & { readonly folder?: string } = {},
): Promise<void> {
  const folder = options.folder ?? await Deno.makeTempDir();
  const before = new Set(children());
  const test = await TestRuntime.start({ ...options, folder });
  try {
    await body(test, folder);
  } finally {
    await test.stop();
    await Deno.remove(folder, { recursive: true });
  }
  // The builder of the bundles is a child of this process too; it is no Deno.
  const left = children().filter((pid) => !before.has(pid) && nameOf(pid).startsWith("deno"));
  assert.deepEqual(left, [], "processes or zombies are left");
}

/** Asks actors one question after the other, from now until `stop`. */
export class Probe implements AsyncDisposable {
  /** The longest time that each was asked and did not answer, in milliseconds. */
  readonly worst = new Map<string, number>();
  answers = 0;
  #running = true;
  readonly #done: Promise<unknown>;

  constructor(test: TestRuntime, refs: readonly string[]) {
    this.#done = Promise.all(refs.map((ref) => this.#ask(test, ref)));
  }

  /** The longest silence of all, once the last questions are answered. */
  async stop(): Promise<number> {
    this.#running = false;
    await this.#done;
    assert.ok(this.answers > 0);
    return Math.max(...this.worst.values());
  }

  /** Ends it also when the test fails. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#running = false;
    await this.#done.catch(() => {}); // the test has failed already, or `stop` has told
  }

  async #ask(test: TestRuntime, ref: string): Promise<void> {
    while (this.#running) {
      const since = performance.now();
      const id = await test.insert(ref, "test.ask");
      await test.until(`${ref} answers`, () => test.edge.some((message) => message.cause === id));
      this.worst.set(ref, Math.max(this.worst.get(ref) ?? 0, Math.round(performance.now() - since)));
      this.answers++;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}

/** Whether a process runs; a zombie is only a number that waits to be read. */
export function lives(pid: number): boolean {
  const state = stateOf(`/proc/${pid}/stat`);
  return state !== undefined && state !== "Z";
}

/** Whether a thread of the process never waited while it was looked at; however loaded the machine, one in an endless loop never does. */
export async function spins(pid: number): Promise<boolean> {
  let always: Set<string> | undefined;
  for (let looks = 0; looks < 25; looks++) {
    const running = new Set(threads(pid).filter((path) => stateOf(path) === "R"));
    always = always?.intersection(running) ?? running;
    if (always.size === 0) return false;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return true;
}

/** Children of this process, zombies too. */
function children(): number[] {
  const all = [...Deno.readDirSync("/proc")].map(({ name }) => Number(name)).filter((pid) => pid > 0);
  return all.filter((pid) => Number(read(`/proc/${pid}/stat`)?.match(/^.*\) \w (\d+)/s)?.[1]) === Deno.pid);
}

function threads(pid: number): string[] {
  try {
    return [...Deno.readDirSync(`/proc/${pid}/task`)].map(({ name }) => `/proc/${pid}/task/${name}/stat`);
  } catch {
    return [];
  }
}

function nameOf(pid: number): string {
  return read(`/proc/${pid}/comm`) ?? "";
}

function stateOf(path: string): string | undefined {
  // The name before it is in parentheses and may hold anything.
  return read(path)?.match(/^.*\) (\w)/s)?.[1];
}

function read(path: string): string | undefined {
  try {
    return Deno.readTextFileSync(path);
  } catch {
    return undefined;
  }
}
