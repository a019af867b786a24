import assert from "node:assert/strict";
import { join } from "node:path";
import { build, workerBundle } from "./build.ts";

Deno.test("a bundle begins with the prelude and is built again only when an input changes", async () => {
  const folder = await Deno.makeTempDir();
  const path = (name: string) => join(folder, name);
  await Deno.writeTextFile(path("main.ts"), `import { text } from "./text.ts";\nconsole.log(text);\n`);
  await Deno.writeTextFile(path("text.ts"), `export const text: string = "first";\n`);
  const bundle = workerBundle(path("main.ts"), path("out/main.js"));
  const run = () => build([bundle], path("manifest.json"));

  const first = await run();
  const unchanged = await run();
  await Deno.writeTextFile(path("text.ts"), `export const text: string = "second";\n`);
  const changed = await run();
  await Deno.remove(path("out/main.js"));
  const removed = await run();

  const made = [bundle.output];
  assert.deepEqual([first, unchanged, changed, removed], [made, [], made, made]);
  const text = await Deno.readTextFile(path("out/main.js"));
  assert.ok(bundle.banner && text.startsWith(bundle.banner));
  assert.ok(text.includes("second"));
  await Deno.remove(folder, { recursive: true });
});

Deno.test("a Worker's bundle cannot import a module of Node", async () => {
  const folder = await Deno.makeTempDir();
  await Deno.writeTextFile(join(folder, "main.ts"), `import fs from "node:fs";\nfs.readFileSync("/");\n`);
  const bundle = {
    ...workerBundle(join(folder, "main.ts"), join(folder, "main.js")),
    options: { logLevel: "silent" },
  } as const;

  await assert.rejects(build([bundle], join(folder, "manifest.json")), /node:fs/);

  await Deno.remove(folder, { recursive: true });
});
