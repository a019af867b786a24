import assert from "node:assert/strict";
import { join } from "node:path";
import { root } from "../../build.ts";
import type { Entry } from "./frames.ts";
import type { ProcessEnd } from "../supervise/judge_death.ts";
import { openProcessLink } from "./process_link.ts";
import { hostSpec } from "./process_spec.ts";

/** A child process at the end of a link, and everything it told. */
function open(args: readonly string[]) {
  const entries: Entry[] = [];
  const noise: string[] = [];
  let told = Promise.withResolvers<void>();
  let end: ProcessEnd | undefined;
  const tell = () => {
    told.resolve();
    told = Promise.withResolvers();
  };
  const link = openProcessLink({ args, env: { HOME: Deno.env.get("HOME") ?? "/", NO_COLOR: "1" } }, {
    onEntry: (entry) => {
      entries.push(entry);
      tell();
    },
    onNoise: (line) => {
      noise.push(line);
      tell();
    },
    onExit: (given) => {
      end = given;
      tell();
    },
  });
  return {
    link,
    entries,
    noise,
    end: () => end,
    async until(fact: () => boolean): Promise<void> {
      while (!fact()) await told.promise;
    },
  };
}

/** Runs a few lines of TypeScript that may use `connectStdio` and the writer of frames. */
async function script(body: string): Promise<{ args: string[]; remove: () => Promise<void> }> {
  const path = await Deno.makeTempFile({ suffix: ".ts" });
  const url = (name: string) => JSON.stringify(`file://${join(root, "runtime/link", name)}`);
  await Deno.writeTextFile(path, `import { connectStdio } from ${url("stdio_link.ts")};\n${body}`);
  const args = ["run", "--quiet", "--no-check", "--no-prompt", "--config", join(root, "deno.json"), path];
  return { args, remove: () => Deno.remove(path) };
}

Deno.test("a child's frames arrive whole, and what it prints between them goes to the log", async () => {
  const child = await script(`
    const print = (text: string) => Deno.stdout.writeSync(new TextEncoder().encode(text));
    await connectStdio((link) => (entry) => {
      print("printed\\n");
      link.send(entry.slot + 1, entry.text.toUpperCase());
      link.flushed().then(() => print("printed again\\n"));
    }, { blocking: true });`);
  const heard = open(child.args);

  heard.link.send(4, "ä".repeat(100_000));
  await heard.until(() => heard.entries.length === 1 && heard.noise.length === 2);
  heard.link.close();
  await heard.link.ended;

  assert.deepEqual(heard.entries, [{ slot: 5, text: "Ä".repeat(100_000) }]);
  assert.deepEqual(heard.noise, ["printed", "printed again"]);
  assert.deepEqual(heard.end(), { code: 0, signal: null, badFrame: false });
  await child.remove();
});

Deno.test("a child that repeats a frame is killed", async () => {
  const child = await script(`
    const write = Deno.stdout.writeSync.bind(Deno.stdout);
    Deno.stdout.writeSync = (bytes) => (write(bytes), write(bytes));
    await connectStdio((link) => () => link.send(1, "x"), { blocking: true });`);
  const heard = open(child.args);

  heard.link.send(1, "go");
  await heard.link.ended;

  assert.ok(heard.entries.length <= 1);
  assert.deepEqual(heard.end(), { code: 137, signal: "SIGKILL", badFrame: true });
  await child.remove();
});

Deno.test("a gateway cleans up when its supervisor is gone", async () => {
  const child = await script(`
    import { runGateway } from ${JSON.stringify(`file://${join(root, "runtime/gateway_host.ts")}`)};
    await runGateway({
      start: (context) => {
        context.signal.addEventListener("abort", () => console.log("aborted"));
        return Promise.resolve();
      },
      keyOf: () => "",
      handle: () => Promise.resolve(),
      stop: () => Promise.resolve(console.log("cleaned up")),
    });`);
  const heard = open(child.args);

  heard.link.send(
    1,
    JSON.stringify({ t: "start", ref: "g", config: null, lease: { ms: 1_000, until: Date.now() } }),
  );
  heard.link.close();
  await heard.link.ended;

  const lines = heard.entries.map(({ text }) => JSON.parse(text)).filter(({ t }) => t === "log");
  assert.deepEqual(lines.map(({ text }) => text), ["aborted", "cleaned up"]);
  assert.equal(heard.end()?.code, 0);
  await child.remove();
});

Deno.test("a host ends with its stdin, and starts nothing that it cannot read", async () => {
  const env = { HOME: Deno.env.get("HOME") ?? "/" };
  const spec = hostSpec(join(root, "runtime/host.ts"), {
    config: join(root, "deno.json"),
    heapMb: 64,
    env,
    read: [join(root, "build")],
  });
  const heard = open(spec.args);

  heard.link.send(0, JSON.stringify({ t: "spawn", slot: 1, url: `file://${join(root, "deno.json")}` }));
  heard.link.send(0, JSON.stringify({ t: "spawn", slot: 2, url: "file:///etc/hostname" }));
  await heard.until(() => heard.entries.filter(({ text }) => text.includes('"error"')).length === 2);
  heard.link.close();
  await heard.link.ended;

  assert.equal(heard.end()?.code, 0);
});
