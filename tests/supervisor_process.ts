/**
 * The supervisor as a child process, started exactly as the `supervisor` task starts it. Used by the end-to-end tests, the development set-up
 * and the benchmarks.
 */
import { fileURLToPath } from "node:url";

const root = new URL("..", import.meta.url);

/** The task's own variables and flags, so that what is tested is what is run. */
async function supervisorTask(): Promise<{ env: Record<string, string>; args: string[] }> {
  const { tasks } = JSON.parse(await Deno.readTextFile(new URL("deno.json", root)));
  const words = String(tasks.supervisor).split(" ");
  const program = words.indexOf("deno");
  return {
    env: Object.fromEntries(words.slice(0, program).map((word) => word.split("="))),
    args: words.slice(program + 1),
  };
}

/** A running supervisor. */
export interface SupervisorProcess {
  readonly pid: number;
  /** Origin of its inbox, for example `http://localhost:41234`. */
  readonly url: string;
  /** The printed one-time sign-in link, when there was one. */
  readonly signInLink: string | undefined;
  /** Everything it wrote so far. */
  output(): string;
  /** Sends a signal and resolves with the exit code when it is gone. */
  stop(signal?: Deno.Signal): Promise<number>;
  readonly status: Promise<Deno.CommandStatus>;
}

/** Starts it with this environment (and a few variables of the machine); resolves when it serves. Rejects with its output when it ends first. */
export async function startSupervisor(
  env: Readonly<Record<string, string>>,
  options: { readonly cwd?: string; readonly echo?: boolean } = {},
): Promise<SupervisorProcess> {
  const passed = Object.fromEntries(
    ["PATH", "HOME", "DENO_DIR", "LANG", "TZ"].flatMap((name) => {
      const value = Deno.env.get(name);
      return value === undefined ? [] : [[name, value]];
    }),
  );
  const task = await supervisorTask();
  const child = new Deno.Command(Deno.execPath(), {
    args: task.args,
    cwd: options.cwd ?? root,
    clearEnv: true,
    env: { ...passed, ...task.env, PORT: "0", ...env },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  return await watch(child, (signal) => child.kill(signal), options.echo ?? false);
}

/**
 * Starts the product as the README says, from a fresh clone of what is committed and with nothing in npm's cache. `npx` passes no signals on, so
 * `stop` sends them to the whole group. Needs git, npx and the npm registry.
 */
export async function startFromCleanClone(folder: string): Promise<SupervisorProcess> {
  const repository = fileURLToPath(root);
  await run("git", ["clone", "--quiet", repository, `${folder}/clone`]);
  const child = new Deno.Command("npx", {
    args: ["-y", "deno@2.9.6", "task", "start"],
    cwd: `${folder}/clone`,
    // A free port, since another program may have the usual one; nothing else is configured.
    env: { npm_config_cache: `${folder}/npm-cache`, PORT: "0" },
    detached: true,
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  return await watch(child, (signal) => Deno.kill(-child.pid, signal), false);
}

async function run(command: string, args: readonly string[]): Promise<void> {
  const { code, stderr } = await new Deno.Command(command, { args: [...args], stderr: "piped" }).output();
  if (code !== 0) throw new Error(`${command} ended with ${code}: ${new TextDecoder().decode(stderr)}`);
}

/** Reads what the process says until it serves. */
async function watch(
  child: Deno.ChildProcess,
  kill: (signal: Deno.Signal) => void,
  echo: boolean,
): Promise<SupervisorProcess> {
  let output = "";
  const serving = Promise.withResolvers<{ url: string; link: string | undefined }>();
  const read = async (stream: ReadableStream<Uint8Array<ArrayBuffer>>) => {
    for await (const text of stream.pipeThrough(new TextDecoderStream())) {
      output += text;
      if (echo) await Deno.stderr.write(new TextEncoder().encode(text));
      const match = /Inbox:\s+(http:\/\/[^\s/]+)(\/\S*)?/.exec(output);
      if (match?.[1] && output.includes("\n", match.index)) {
        serving.resolve({ url: match[1], link: match[2] ? match[1] + match[2] : undefined });
      }
    }
  };
  const reading = Promise.all([read(child.stdout), read(child.stderr)]);
  const status = child.status.then(async (ended) => {
    await reading;
    serving.reject(new Error(`the supervisor ended with ${ended.code} before it served:\n${output}`));
    return ended;
  });
  const { url, link } = await serving.promise;
  return {
    pid: child.pid,
    url,
    signInLink: link,
    status,
    output: () => output,
    async stop(signal = "SIGTERM") {
      try {
        kill(signal);
      } catch (error) {
        // It ended by itself; its status says how.
        if (!(error instanceof TypeError || error instanceof Deno.errors.NotFound)) throw error;
      }
      return (await status).code;
    },
  };
}
