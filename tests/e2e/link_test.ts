/** A new sign-in link beside a running supervisor, and plain words when a start cannot succeed. */
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { startSupervisor } from "../supervisor_process.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

async function run(file: string, env: Record<string, string>): Promise<{ code: number; out: string }> {
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", file],
    cwd: root,
    env,
    stdout: "piped",
    stderr: "piped",
  }).output();
  const text = new TextDecoder();
  return { code, out: text.decode(stdout) + text.decode(stderr) };
}

async function signIn(url: string, token: string): Promise<number> {
  const response = await fetch(`${url}/api/session`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ token }),
  });
  await response.body?.cancel();
  return response.status;
}

Deno.test("a new link can be had while the supervisor runs, names the port that it really has, and works once", async () => {
  const folder = await Deno.makeTempDir({ prefix: "callboard-link-" });
  const supervisor = await startSupervisor({ CALLBOARD_DATA: folder });
  try {
    const { code, out } = await run("link.ts", {
      CALLBOARD_DATA: folder,
      PUBLIC_URL: "https://board.example",
    });
    const [, origin = "", token = ""] = /^(\S+)\/#token=(\S+)$/m.exec(out) ?? [];

    assert.equal(code, 0, out);
    assert.equal(origin, supervisor.url);
    assert.doesNotMatch(out, /not running/);
    assert.deepEqual([await signIn(origin, token), await signIn(origin, token)], [201, 401]);

    await supervisor.stop();
    const later = await run("link.ts", { CALLBOARD_DATA: folder, PORT: "4321" });
    assert.match(later.out, /^http:\/\/localhost:4321\/#token=[^]*not running/);
  } finally {
    await supervisor.stop();
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("a start that cannot succeed says what to do and leaves no lease behind", async () => {
  const folder = await Deno.makeTempDir({ prefix: "callboard-link-" });
  const taken = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  try {
    const failed = await run("supervisor.ts", { CALLBOARD_DATA: folder, PORT: String(taken.addr.port) });
    const next = await startSupervisor({ CALLBOARD_DATA: folder });
    const said = next.output();
    await next.stop();

    assert.equal(failed.code, 1);
    assert.match(failed.out, /port \d+ is in use: .*PORT/);
    assert.doesNotMatch(said, /another supervisor/);
  } finally {
    taken.close();
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("a data folder that cannot be used is named without a stack", async () => {
  const { code, out } = await run("supervisor.ts", { CALLBOARD_DATA: "/proc/nope", PORT: "0" });

  assert.equal(code, 1);
  assert.match(out, /"\/proc\/nope" cannot be used: .*CALLBOARD_DATA/);
  assert.doesNotMatch(out, /\n\s+at /);
});
