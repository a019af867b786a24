import assert from "node:assert/strict";
import { ToolboxWorld } from "../../../tests/doubles/toolbox_world.ts";

Deno.test("exec_command runs in the workspace with an empty environment and no network", async () => {
  await using world = await ToolboxWorld.open();
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });

  const result = await world.call("exec_command", {
    command: "echo hello > made.txt; env | sort; cat /proc/net/route | wc -l; " +
      `(exec 3<>/dev/tcp/127.0.0.1/${listener.addr.port}) 2>&1; ls -A /; ls -A /etc; touch /usr/x /etc/x 2>&1`,
  });

  assert.equal(await Deno.readTextFile(`${world.workspace()}/made.txt`), "hello\n");
  assert.match(result.text, /^Exit code: 1\nWall time: /);
  const names = [...result.text.matchAll(/^([A-Z_]+)=/gm)].map((match) => match[1]);
  assert.deepEqual(names, ["HOME", "LANG", "PATH", "PWD", "SHLVL", "TERM", "TZ", "_"]);
  assert.match(result.text, /^1$/m, "only the headline of the routing table");
  assert.match(result.text, /Connection refused/, "the host's loopback is another one");
  assert.match(result.text, /'\/usr\/x': Read-only/);
  assert.match(result.text, /'\/etc\/x': Read-only/);
  assert.doesNotMatch(result.text, /^(root|home|var|sys|work)$/m);
});

Deno.test("exec_command cannot see other workspaces nor the database", async () => {
  await using world = await ToolboxWorld.open();
  await Deno.mkdir(world.workspace("c2"));
  await Deno.writeTextFile(`${world.workspace("c2")}/secret.txt`, "SECRET");

  const result = await world.call("exec_command", {
    command: `cat ${world.workspace("c2")}/secret.txt ../c2/secret.txt ${world.folder}/test.db; ls -A ..`,
  });

  assert.doesNotMatch(result.text, /SECRET|SQLite/);
  assert.equal(result.exitCode, 0);
});

Deno.test("exec_command sees nothing of protected places, by whatever way, and cannot move them out of protection", async () => {
  await using world = await ToolboxWorld.open();
  const root = world.workspace();
  await Deno.mkdir(`${root}/app/secrets/deep`, { recursive: true });
  await Deno.writeTextFile(`${root}/app/secrets/k`, "CANARY");
  await Deno.writeTextFile(`${root}/app/secrets/deep/k`, "CANARY");
  await Deno.writeTextFile(`${root}/.ssh`, "CANARY");
  await Deno.symlink("/workspace/app/secrets", `${root}/leak`);

  const looked = await world.call("exec_command", {
    command: "cat app/secrets/k app/secrets/deep/k leak/k .ssh; ls -A app/secrets leak; grep -r CANARY .; " +
      "tar c . | grep -c CANARY; ls -A app",
  });
  const moved = await world.call("exec_command", {
    command:
      "mv app other; mv app/secrets plain; rmdir app/secrets; umount app/secrets; rm -rf app/secrets .ssh; " +
      "ln .ssh x; cp -r app copy; echo new > app/secrets/k; echo new > .ssh; echo kept > app/made",
  });
  const within = await world.call("exec_command", { command: "cat k", cwd: "app/secrets" });

  assert.doesNotMatch(looked.text, /CANARY/);
  assert.match(looked.text, /^0\nsecrets\n?$/m);
  assert.equal(within.outcome, "failed");
  assert.match(within.text, /protected/);
  assert.ok(moved.outcome === "finished");
  const files = ["app/secrets/k", "app/secrets/deep/k", ".ssh"];
  const kept = await Promise.all(files.map((file) => Deno.readTextFile(`${root}/${file}`)));
  assert.deepEqual(kept, ["CANARY", "CANARY", "CANARY"]);
  assert.equal(await Deno.readTextFile(`${root}/app/made`), "kept\n");
  const again = await world.call("exec_command", { command: "grep -r CANARY ." });
  assert.doesNotMatch(again.text, /CANARY/);
});

Deno.test("exec_command sees nothing of what a protected rule of one's own denies", async () => {
  await using world = await ToolboxWorld.open();
  await Deno.mkdir(`${world.workspace()}/private/deep`, { recursive: true });
  await Deno.writeTextFile(`${world.workspace()}/private/deep/k`, "CANARY");
  const run = async (command: string) => {
    const callId = await world.propose("exec_command", { command });
    await world.grant(callId, { hidden: ["/private/deep/*"] });
    return world.result(callId);
  };

  const moved = await run("mv private other || echo stays");
  const looked = await run("grep -r CANARY .; ls private");

  assert.match(moved.text, /stays/);
  assert.doesNotMatch(looked.text, /CANARY/);
  assert.match(looked.text, /deep/);
});

Deno.test("exec_command ends a command at its time limit, and everything it started", async () => {
  await using world = await ToolboxWorld.open();
  const mark = `31${Math.floor(Math.random() * 1e6)}`;

  const result = await world.call("exec_command", {
    command: `trap '' TERM; setsid sleep ${mark} & (trap '' TERM; sleep ${mark} & wait) & wait`,
    timeoutSeconds: 1,
  });

  assert.equal(result.exitCode, 124);
  assert.match(result.text, /^Exit code: 124 \(stopped at its time limit of 1 s\)/);
  assert.deepEqual(processes(mark), []);
});

Deno.test("exec_command gives a command the chance to end by itself", async () => {
  await using world = await ToolboxWorld.open();

  const result = await world.call("exec_command", {
    command: `trap 'echo tidy > tidied; exit 0' TERM; sleep 60 & wait`,
    timeoutSeconds: 1,
  });

  assert.equal(result.exitCode, 124);
  assert.equal(await Deno.readTextFile(`${world.workspace()}/tidied`), "tidy\n");
});

Deno.test("a command's background processes end with it", async () => {
  await using world = await ToolboxWorld.open();
  const mark = `32${Math.floor(Math.random() * 1e6)}`;

  const result = await world.call("exec_command", { command: `setsid sleep ${mark} & echo started` });

  assert.match(result.text, /started/);
  assert.deepEqual(processes(mark), []);
});

Deno.test("a long output is cut in the middle and streamed in small pieces", async () => {
  await using world = await ToolboxWorld.open();

  const result = await world.call("exec_command", { command: "echo first; seq 1 200000; echo last; exit 3" });

  assert.equal(result.exitCode, 3);
  assert.ok(result.text.length < 41_000);
  const parts = /^Exit code: 3\n[^]*first\n1\n2\n[^]*… \d+ of (\d+) characters were cut here[^]*last\n$/.exec(
    result.text,
  );
  assert.equal(parts?.[1], "1288906");
  const chunks = world.emitted.map((send) => ToolChunk(send.payload));
  assert.ok(chunks.every((chunk) => new TextEncoder().encode(chunk).length <= 8_192));
  assert.ok(chunks.join("").length > 1_000_000);
});

Deno.test("exec_command starts in the asked folder and is described by its words", async () => {
  await using world = await ToolboxWorld.open();
  await Deno.mkdir(`${world.workspace()}/sub`);

  const callId = await world.propose("exec_command", { command: "pwd", cwd: "sub" });
  await world.grant(callId);

  const { described } = world.judged(callId);
  assert.deepEqual(described.argv, ["bash", "-c", "pwd"]);
  assert.equal(described.cwd, "/sub");
  assert.equal(described.risk, "medium");
  assert.equal(described.sandboxed, true);
  assert.match(world.result(callId).text, /\/workspace\/sub/);
});

Deno.test("files are written, read in parts, listed and edited", async () => {
  await using world = await ToolboxWorld.open();

  const written = await world.call("write_file", { path: "a/b/notes.txt", content: "one\ntwo\nthree\n" });
  const part = await world.call("read_file", { path: "/a/b/notes.txt", offset: 2, limit: 1 });
  const edited = await world.call("edit_file", { path: "/workspace/a/b/notes.txt", old: "two", new: "2" });
  const listed = await world.call("list_files", { depth: 5 });

  assert.equal(written.text, "Wrote /a/b/notes.txt (14 bytes).");
  assert.equal(part.text, "(Lines 2 to 2 of 3)\ntwo\n");
  assert.equal(edited.text, "Edited /a/b/notes.txt.");
  assert.equal(await Deno.readTextFile(`${world.workspace()}/a/b/notes.txt`), "one\n2\nthree\n");
  assert.equal(listed.text, "a/\na/b/\na/b/notes.txt (12 bytes)");
});

Deno.test("a write is shown as a diff and keeps the file's mode", async () => {
  await using world = await ToolboxWorld.open();
  await Deno.writeTextFile(`${world.workspace()}/run.sh`, "echo 1\n", { mode: 0o750 });

  const callId = await world.propose("write_file", { path: "run.sh", content: "echo 2\n" });
  await world.grant(callId);

  assert.match(world.judged(callId).described.preview?.text ?? "", /^-echo 1\n\+echo 2$/m);
  assert.equal((await Deno.stat(`${world.workspace()}/run.sh`)).mode! & 0o777, 0o750);
});

Deno.test("edit_file demands a unique passage, and says so only after judgement", async () => {
  await using world = await ToolboxWorld.open();
  await Deno.writeTextFile(`${world.workspace()}/f`, "x x\n");

  const callId = await world.propose("edit_file", { path: "f", old: "x", new: "y" });
  const { described } = world.judged(callId);
  await world.grant(callId);
  const all = await world.call("edit_file", { path: "f", old: "x", new: "$&", all: true });

  assert.equal(described.class, "read", "nothing would be written");
  assert.equal(described.preview, undefined);
  assert.deepEqual(world.result(callId).outcome, "failed");
  assert.match(world.result(callId).text, /occurs 2 times/);
  assert.equal(all.outcome, "finished");
  assert.equal(await Deno.readTextFile(`${world.workspace()}/f`), "$& $&\n");
});

Deno.test("an edit that becomes possible after it was judged as a read is refused", async () => {
  await using world = await ToolboxWorld.open();
  await Deno.writeTextFile(`${world.workspace()}/f`, "x x\n");

  const callId = await world.propose("edit_file", { path: "f", old: "x x x", new: "gone" });
  await Deno.writeTextFile(`${world.workspace()}/f`, "x x x\n");
  await world.grant(callId);

  assert.equal(world.result(callId).outcome, "failed");
  assert.equal(await Deno.readTextFile(`${world.workspace()}/f`), "x x x\n");
});

Deno.test("reading what is no text, or not there, fails with a plain sentence", async () => {
  await using world = await ToolboxWorld.open();
  await Deno.writeFile(`${world.workspace()}/bin`, new Uint8Array([255, 254, 0]));

  assert.match((await world.call("read_file", { path: "bin" })).text, /no UTF-8 text \(3 bytes\)/);
  assert.match((await world.call("read_file", { path: "none" })).text, /\/none does not exist/);
  assert.match((await world.call("read_file", { path: "/" })).text, /is a folder/);
  assert.match((await world.call("list_files", { path: "bin" })).text, /is no folder/);
});

Deno.test("update_plan answers with its progress", async () => {
  await using world = await ToolboxWorld.open();
  const items = [{ text: "look", status: "completed" }, { text: "act", status: "pending" }];

  const result = await world.call("update_plan", { items });

  assert.equal(result.text, "Plan updated: 1 of 2 steps completed.");
});

Deno.test("without a sandbox every effect is locked to a person's single decision", async () => {
  await using world = await ToolboxWorld.open({ bwrap: "/nonexistent/bwrap" });

  const ids = {
    exec: await world.propose("exec_command", { command: "echo $HOME; pwd" }),
    write: await world.propose("write_file", { path: "f", content: "x" }),
    read: await world.propose("read_file", { path: "f" }),
  };
  for (const id of Object.values(ids)) await world.grant(id);

  for (const id of [ids.exec, ids.write]) {
    const { askOnce, sandboxed, risk } = world.judged(id).described;
    assert.deepEqual({ askOnce, sandboxed, risk }, { askOnce: true, sandboxed: false, risk: "high" });
  }
  assert.equal(world.judged(ids.read).described.askOnce, false);
  assert.match(
    world.result(ids.exec).text,
    new RegExp(`Output:\n${world.workspace()}\n${world.workspace()}`),
  );
  assert.equal(await Deno.readTextFile(`${world.workspace()}/f`), "x");
});

Deno.test("without a sandbox a stop still reaches the whole process group", async () => {
  await using world = await ToolboxWorld.open({ bwrap: "/nonexistent/bwrap" });
  const mark = `33${Math.floor(Math.random() * 1e6)}`;

  const result = await world.call("exec_command", {
    command: `trap '' TERM; sleep ${mark} & (trap '' TERM; sleep ${mark} & wait) & wait`,
    timeoutSeconds: 1,
  });

  assert.equal(result.exitCode, 124);
  assert.deepEqual(processes(mark), []);
});

for (const bwrap of ["/usr/bin/bwrap", "/nonexistent/bwrap"]) {
  Deno.test(`kill -9 of the toolbox leaves no process of a command behind (${bwrap})`, async () => {
    const folder = await Deno.realPath(await Deno.makeTempDir({ prefix: "callboard_toolbox_" }));
    const mark = `34${Math.floor(Math.random() * 1e6)}`;
    const config = JSON.stringify({ workspaces: `${folder}/workspaces`, bwrap });
    const command = `trap '' TERM; (trap '' TERM; sleep ${mark} & wait) & sleep ${mark}`;
    const call = JSON.stringify({ tool: "exec_command", args: { command } });
    const program = new URL("../../../tests/doubles/toolbox_alone.ts", import.meta.url).pathname;

    const toolbox = new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", "--cached-only", program, config, call],
      stdout: "null",
      stderr: "null",
    }).spawn();
    while (processes(mark).length < 2) await new Promise((resolve) => setTimeout(resolve, 5));
    toolbox.kill("SIGKILL");
    await toolbox.status;

    while (processes(mark).length > 0) await new Promise((resolve) => setTimeout(resolve, 5));
    await Deno.remove(folder, { recursive: true });
  });
}

/** Ids of the processes whose command line holds the mark. */
function processes(mark: string): string[] {
  return [...Deno.readDirSync("/proc")].map((entry) => entry.name).filter((name) => {
    try {
      return /^\d+$/.test(name) &&
        Deno.readTextFileSync(`/proc/${name}/cmdline`).startsWith(`sleep\0${mark}`);
    } catch {
      return false;
    }
  });
}

function ToolChunk(payload: unknown): string {
  assert.ok(typeof payload === "object" && payload !== null && "chunk" in payload);
  return String(payload.chunk);
}
