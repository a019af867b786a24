import assert from "node:assert/strict";
import { join } from "node:path";
import { actorBundles, build, workerBundle } from "./build.ts";

/** esbuild's child process ends a moment after it was told to, and offers nothing to wait for. */
const unsanitized = { sanitizeOps: false, sanitizeResources: false } as const;

Deno.test(
  "a bundle begins with the prelude and is built again only when an input changes",
  unsanitized,
  async () => {
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
  },
);

Deno.test("a Worker's bundle cannot import a module of Node", unsanitized, async () => {
  const folder = await Deno.makeTempDir();
  await Deno.writeTextFile(join(folder, "main.ts"), `import fs from "node:fs";\nfs.readFileSync("/");\n`);
  const bundle = {
    ...workerBundle(join(folder, "main.ts"), join(folder, "main.js")),
    options: { logLevel: "silent" },
  } as const;

  await assert.rejects(build([bundle], join(folder, "manifest.json")), /node:fs/);

  await Deno.remove(folder, { recursive: true });
});

Deno.test(
  "the pure actors' bundles are small and hold nothing that a Worker must not have",
  unsanitized,
  async () => {
    const folder = await Deno.makeTempDir();
    const list = actorBundles.map((bundle, index) => ({ ...bundle, output: join(folder, `${index}.js`) }));

    await build(list, join(folder, "manifest.json"));

    const manifest = await Deno.readTextFile(join(folder, "manifest.json"));
    for (
      const foreign of ["pi-ai", "modelcontextprotocol", "agentclientprotocol", "libsql", "zod/v4/locales/de"]
    ) {
      assert.ok(!manifest.includes(foreign), `a bundle contains ${foreign}`);
    }
    for (const { entry, output } of list) {
      const text = await Deno.readTextFile(output);
      assert.ok(text.length <= 120_000, `${entry} has ${text.length} bytes`);
      assert.ok(!/\bfrom\s*"node:|import\("node:/.test(text), `${entry} imports a module of Node`);
    }
    await Deno.remove(folder, { recursive: true });
  },
);
