import assert from "node:assert/strict";
import { systemClock } from "../../../lib/clock.ts";
import { ToolboxWorld } from "../../../tests/doubles/toolbox_world.ts";
import { openSandbox } from "../sandbox/sandbox.ts";
import { type Look, resolvePath } from "./virtual_path.ts";
import { WorkspaceFiles } from "./workspace_files.ts";

/** A file system of nothing but names: folders end with `/`, links name their target. */
function tree(entries: Readonly<Record<string, string>>) {
  return (path: string): Promise<Look> => {
    const entry = entries[path];
    if (entry === undefined) return Promise.resolve({ kind: "missing" });
    if (entry === "dir") return Promise.resolve({ kind: "directory" });
    if (entry === "file") return Promise.resolve({ kind: "file" });
    return Promise.resolve({ kind: "link", target: entry });
  };
}

const look = tree({
  "/w/a": "dir",
  "/w/a/f": "file",
  "/w/in": "a",
  "/w/up": "../../etc",
  "/w/abs": "/etc/passwd",
  "/w/own": "/workspace/a/f",
  "/w/loop": "loop",
  "/w/a/back": "../in/f",
});

for (
  const [asked, expected] of [
    ["a/f", "/a/f file"],
    ["/a//./f", "/a/f file"],
    ["/workspace/a/f", "/a/f file"],
    ["workspace/a", "/workspace/a missing"],
    ["", "/ directory"],
    ["a/..", "/ directory"],
    ["in/f", "/a/f file"],
    ["in/../a", "/a directory"],
    ["own", "/a/f file"],
    ["a/back", "/a/f file"],
    ["new/deep/file", "/new/deep/file missing"],
    ["a/f/below", "/a/f/below missing"],
    ["..", "outside"],
    ["a/../../x", "outside"],
    ["../w/a", "outside"],
    ["up/passwd", "outside"],
    ["abs", "outside"],
    ["loop", "outside"],
    ["new/../a", "outside"],
    ["a\0b", "outside"],
    ["x/".repeat(2_500), "outside"],
    ["ä".repeat(200), "outside"],
  ] as const
) {
  Deno.test(`path ${JSON.stringify(asked.slice(0, 20))} is ${expected}`, async () => {
    const found = await resolvePath("/w", asked, look);

    assert.equal(found.ok ? `${found.at.path} ${found.at.kind}` : "outside", expected);
  });
}

Deno.test("an absolute host path names nothing but a place in the workspace", async () => {
  await using world = await ToolboxWorld.open();

  const result = await world.call("read_file", { path: "/etc/passwd" });

  assert.equal(result.text, "/etc/passwd does not exist.");
});

Deno.test("what lies outside is named to approval and never run, even if it were allowed", async () => {
  await using world = await ToolboxWorld.open();
  await Deno.writeTextFile(`${world.folder}/outside.txt`, "SECRET");
  await Deno.symlink("../../outside.txt", `${world.workspace()}/link`);
  await Deno.symlink("../..", `${world.workspace()}/folder`);

  for (
    const [tool, args] of [
      ["read_file", { path: "link" }],
      ["read_file", { path: "../../outside.txt" }],
      ["read_file", { path: "folder/outside.txt" }],
      ["write_file", { path: "link", content: "x" }],
      ["write_file", { path: "folder/new.txt", content: "x" }],
      ["edit_file", { path: "link", old: "S", new: "x" }],
      ["list_files", { path: "folder" }],
      ["exec_command", { command: "cat outside.txt", cwd: "folder" }],
    ] as const
  ) {
    const callId = await world.propose(tool, args);
    await world.grant(callId);

    assert.equal(world.judged(callId).described.outside.length, 1, tool);
    assert.equal(world.result(callId).outcome, "failed");
    assert.doesNotMatch(JSON.stringify(world.sent), /SECRET/);
  }
  assert.equal(await Deno.readTextFile(`${world.folder}/outside.txt`), "SECRET");
});

Deno.test("a link that is put in the way after the judgement leads nowhere", async () => {
  await using world = await ToolboxWorld.open();
  await Deno.mkdir(`${world.workspace()}/dir`);
  await Deno.writeTextFile(`${world.workspace()}/dir/f`, "mine");
  await Deno.mkdir(`${world.folder}/elsewhere`);
  await Deno.writeTextFile(`${world.folder}/elsewhere/f`, "mine");
  const write = await world.propose("write_file", { path: "dir/f", content: "theirs" });
  const read = await world.propose("read_file", { path: "dir/f" });

  await Deno.rename(`${world.workspace()}/dir`, `${world.workspace()}/old`);
  await Deno.symlink(`${world.folder}/elsewhere`, `${world.workspace()}/dir`);
  await world.grant(write);
  await world.grant(read);

  assert.equal(world.result(write).outcome, "failed");
  assert.equal(world.result(read).outcome, "failed");
  assert.equal(await Deno.readTextFile(`${world.folder}/elsewhere/f`), "mine");
});

Deno.test("a link inside the workspace is judged by where it leads", async () => {
  await using world = await ToolboxWorld.open();
  await Deno.mkdir(`${world.workspace()}/secrets`);
  await Deno.writeTextFile(`${world.workspace()}/secrets/k`, "key");
  await Deno.symlink("secrets", `${world.workspace()}/harmless`);

  const callId = await world.propose("read_file", { path: "harmless/../harmless/k" });

  assert.deepEqual(world.judged(callId).described.paths.map((path) => path.path), ["/secrets/k"]);
});

Deno.test("no script can be led away between looking and opening", async () => {
  await using world = await ToolboxWorld.open();
  const root = world.workspace();
  await Deno.symlink(world.folder, `${root}/dir`);
  await Deno.writeTextFile(`${root}/target`, "inside");
  await Deno.symlink("target", `${root}/name`);
  const settings = { bwrap: "/usr/bin/bwrap", bash: "/bin/bash", etc: `${world.folder}/workspaces/.etc` };

  for (const mode of ["bwrap", "none"] as const) {
    const files = new WorkspaceFiles(openSandbox({ ...settings, mode, timeZone: "UTC", clock: systemClock }));
    const folderLink = { path: "/dir/test.db", kind: "file", folders: ["dir"], rest: ["test.db"] } as const;
    const nameLink = { path: "/name", kind: "file", folders: [], rest: ["name"] } as const;
    const content = new TextEncoder().encode("x");

    for (const at of [folderLink, nameLink]) {
      await assert.rejects(files.read({ root }, at), { name: "FileProblem", kind: "changed" });
      await assert.rejects(files.write({ root }, at, { content, expected: undefined }), { kind: "changed" });
    }
    const listed = { path: "/dir", kind: "directory", folders: ["dir"], rest: [] } as const;
    await assert.rejects(files.list({ root }, listed, { depth: 1, limit: 10 }), { kind: "changed" });
  }
  assert.equal(await Deno.readTextFile(`${root}/target`), "inside");
});

Deno.test("a special file and a huge one are refused without being read", async () => {
  await using world = await ToolboxWorld.open();
  await world.call("exec_command", { command: "mkfifo pipe; truncate -s 17M huge" });

  assert.match((await world.call("read_file", { path: "pipe" })).text, /no regular file/);
  assert.match((await world.call("read_file", { path: "huge" })).text, /larger than/);
  assert.equal((await world.call("write_file", { path: "huge", content: "x" })).outcome, "failed");
});
