/**
 * Proves of every built-in tool what rules go by: its class, and that a file tool names the paths that it touches. A new tool fails here until it is
 * listed with its class and, when it touches files, with a call to try.
 */
import assert from "node:assert/strict";
import { matchesTool } from "../../../lib/policy/tool_pattern.ts";
import { offeredTools } from "../../../tests/doubles/offered_tools.ts";
import { ToolboxWorld } from "../../../tests/doubles/toolbox_world.ts";

const tools = offeredTools();

/** Each tool's class, and for file tools a call that touches `/f.txt`, which says `old`. */
const expected: Readonly<Record<string, readonly [string, Record<string, unknown>?]>> = {
  exec_command: ["exec"],
  read_file: ["read", { path: "f.txt" }],
  list_files: ["read", { path: "f.txt" }],
  write_file: ["write", { path: "f.txt", content: "new" }],
  edit_file: ["write", { path: "f.txt", old: "old", new: "new" }],
  ask_user: ["plan"],
  update_plan: ["plan"],
  schedule: ["schedule"],
  list_schedules: ["schedule"],
  cancel_schedule: ["schedule"],
};

/** Parameters by which a tool may be told of a file. `cwd` is where a command runs, which touches nothing by itself. */
const FILE_PARAMETER = /path|file|folder|director|^from$|^to$|^source$|^target$|^destination$/i;

Deno.test("every built-in tool has the class that is listed for it", () => {
  const classes = Object.fromEntries(tools.map(({ spec }) => [spec.name, spec.class]));

  assert.deepEqual(
    classes,
    Object.fromEntries(Object.entries(expected).map(([name, [kind]]) => [name, kind])),
  );
});

Deno.test("every tool that can be told of a file is in a class of file tools, and no other tool is", () => {
  for (const { spec } of tools) {
    const { properties = {} } = spec.parameters as { properties?: Record<string, unknown> }; // JSON Schema of an object
    const takesFiles = Object.keys(properties).some((name) => FILE_PARAMETER.test(name));

    assert.equal(matchesTool("@fs_any", { tool: spec.name, class: spec.class }), takesFiles, spec.name);
  }
});

for (
  const { spec } of tools.filter(({ spec }) => matchesTool("@fs_any", { tool: spec.name, class: spec.class }))
) {
  Deno.test(`${spec.name} is judged by the path that it touches, as its class says`, async () => {
    const sample = expected[spec.name]?.[1];
    assert.ok(sample, `${spec.name} has no call to try`);
    await using world = await ToolboxWorld.open();
    await Deno.writeTextFile(`${world.workspace()}/f.txt`, "old");

    const { described } = world.judged(await world.propose(spec.name, sample));

    assert.equal(described.class, spec.class);
    assert.deepEqual(
      described.paths.map(({ path, access }) => ({ path, access })),
      [{ path: "/f.txt", access: spec.class }],
    );
  });
}
