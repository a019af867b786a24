import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { root } from "../../build.ts";
import type { Entry } from "./frames.ts";
import { EXIT_BAD_LINK, type ProcessEnd } from "../supervise/judge_death.ts";
import { Meeting } from "./meeting.ts";
import { openProcessLink, type ProcessSpec } from "./process_link.ts";
import { hostSpec } from "./process_spec.ts";

/** A child process at the end of a link, and everything it told. */
function open({ flags, entry }: Omit<ProcessSpec, "env">) {
  const entries: Entry[] = [];
  const noise: string[] = [];
  let told = Promise.withResolvers<void>();
  let end: ProcessEnd | undefined;
  const tell = () => {
    told.resolve();
    told = Promise.withResolvers();
  };
  const link = openProcessLink({ flags, entry, env: { HOME: Deno.env.get("HOME") ?? "/", NO_COLOR: "1" } }, {
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

/** Runs a few lines of TypeScript that may use `connectToSupervisor`. */
async function script(body: string): Promise<ProcessSpec & { remove: () => Promise<void> }> {
  const path = await Deno.makeTempFile({ suffix: ".ts" });
  const url = (name: string) => JSON.stringify(`file://${join(root, "runtime/link", name)}`);
  await Deno.writeTextFile(path, `import { connectToSupervisor } from ${url("child_link.ts")};\n${body}`);
  const flags = ["--quiet", "--no-check", "--no-prompt", "--config", join(root, "deno.json")];
  return { flags, entry: path, env: {}, remove: () => Deno.remove(path) };
}

Deno.test("a child's frames arrive whole, and what it prints goes to the log", async () => {
  const child = await script(`
    const print = (text: string) => Deno.stdout.writeSync(new TextEncoder().encode(text));
    await connectToSupervisor((link) => (entry) => {
      print("printed\\n");
      link.send(entry.slot + 1, entry.text.toUpperCase());
      link.flushed().then(() => print("printed again\\n"));
    });`);
  const heard = open(child);

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
    const connect = Deno.connect;
    Deno.connect = async (options) => {
      const connection = await connect(options);
      const write = connection.write.bind(connection);
      connection.write = async (bytes) => (await write(bytes), await write(bytes));
      return connection;
    };
    await connectToSupervisor((link) => () => link.send(1, "x"));`);
  const heard = open(child);

  heard.link.send(1, "go");
  await heard.link.ended;

  assert.ok(heard.entries.length <= 1);
  assert.deepEqual(heard.end(), { code: 137, signal: "SIGKILL", badFrame: true });
  await child.remove();
});

Deno.test("a child that hears what is no frame ends, and says why", async () => {
  const child = await script(`
    const connect = Deno.connect;
    Deno.connect = async (options) => {
      const connection = await connect(options);
      const read = connection.read.bind(connection);
      // Somebody else has taken the first byte.
      connection.read = (into) => (connection.read = read, read(new Uint8Array(1)).then(() => read(into)));
      return connection;
    };
    await connectToSupervisor(() => () => console.log("heard"));`);
  const heard = open(child);

  heard.link.send(1, "go");
  await heard.link.ended;

  assert.deepEqual(heard.noise, []);
  assert.deepEqual(heard.end(), { code: EXIT_BAD_LINK, signal: null, badFrame: false });
  await child.remove();
});

Deno.test("a stranger at the socket is told nothing, and the child is still met", async () => {
  const meeting = new Meeting();
  const connected = meeting.connection();
  const stranger = await Deno.connect({ transport: "unix", path: meeting.path });
  await stranger.write(new Uint8Array(meeting.secrets.length));
  assert.equal(await stranger.read(new Uint8Array(1)).catch(() => null), null);
  stranger.close();

  const child = await Deno.connect({ transport: "unix", path: meeting.path });
  await child.write(meeting.secrets.subarray(0, 32));
  using met = await connected;

  await met?.write(new Uint8Array([7]));
  const told = new Uint8Array(1);
  await child.read(told);
  assert.equal(told[0], 7);
  child.close();
  await assert.rejects(Deno.stat(meeting.path), Deno.errors.NotFound);
});

Deno.test("a socket that cannot be made leaves no folder behind", async () => {
  const folder = await Deno.makeTempDir();
  const long = join(folder, "x".repeat(200)); // more than a socket's path may have
  await Deno.mkdir(long);
  const before = Deno.env.get("TMPDIR");
  Deno.env.set("TMPDIR", long);
  try {
    assert.throws(() => new Meeting());
  } finally {
    if (before === undefined) Deno.env.delete("TMPDIR");
    else Deno.env.set("TMPDIR", before);
  }

  assert.deepEqual(await Array.fromAsync(Deno.readDir(long)), []);
  await Deno.remove(folder, { recursive: true });
});

Deno.test("a supervisor that exits while it waits for a child leaves no socket behind", async () => {
  const url = JSON.stringify(`file://${join(root, "runtime/link/meeting.ts")}`);
  const program = `import { Meeting } from ${url};
    const meeting = new Meeting();
    void meeting.connection();
    console.log(meeting.path);
    Deno.exit(1);`;
  const path = await Deno.makeTempFile({ suffix: ".ts" });
  await Deno.writeTextFile(path, program);

  const args = ["run", "-A", "--quiet", "--no-check", "--config", join(root, "deno.json"), path];
  const { stdout, code } = await new Deno.Command(Deno.execPath(), { args }).output();

  const socket = new TextDecoder().decode(stdout).trim();
  assert.deepEqual([code, socket.endsWith("/link")], [1, true]);
  await assert.rejects(Deno.stat(dirname(socket)), Deno.errors.NotFound);
  await Deno.remove(path);
});

Deno.test("a child that ends before it connects leaves no socket behind", async () => {
  const child = await script("console.log(Deno.args[0]);");
  const heard = open(child);

  await heard.link.ended;

  assert.equal(heard.end()?.code, 0);
  assert.equal(heard.noise.length, 1);
  await assert.rejects(Deno.stat(String(heard.noise[0])), Deno.errors.NotFound);
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
  const heard = open(child);

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

Deno.test("a host ends with its link, and starts nothing that it cannot read", async () => {
  const env = { HOME: Deno.env.get("HOME") ?? "/" };
  const spec = hostSpec(join(root, "runtime/host.ts"), {
    config: join(root, "deno.json"),
    heapMb: 64,
    env,
    read: [join(root, "build")],
  });
  const heard = open(spec);

  heard.link.send(0, JSON.stringify({ t: "spawn", slot: 1, url: `file://${join(root, "deno.json")}` }));
  heard.link.send(0, JSON.stringify({ t: "spawn", slot: 2, url: "file:///etc/hostname" }));
  await heard.until(() => heard.entries.filter(({ text }) => text.includes('"error"')).length === 2);
  heard.link.close();
  await heard.link.ended;

  assert.equal(heard.end()?.code, 0);
});
