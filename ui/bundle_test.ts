import assert from "node:assert/strict";
import { join } from "node:path";
import { bundleUi } from "./bundle.ts";

/** esbuild's child process ends a moment after it was told to, and offers nothing to wait for. */
const unsanitized = { sanitizeOps: false, sanitizeResources: false } as const;

Deno.test(
  "the built page has hashed files, nothing inline and nothing from elsewhere, and is built once",
  unsanitized,
  async () => {
    const folder = await Deno.makeTempDir({ prefix: "callboard-ui-" });
    try {
      const outDir = join(folder, "ui");
      const written = await bundleUi({ outDir });
      const names = [...Deno.readDirSync(outDir)].map(({ name }) => name);
      const index = await Deno.readTextFile(join(outDir, "index.html"));
      const worker = await Deno.readTextFile(join(outDir, "sw.js"));

      assert.equal(written.length, names.length);
      const linked = [...index.matchAll(/(?:src|href)="\/([^"]+)"/g)].map(([, name]) => name ?? "");
      for (const name of linked) assert.ok(names.includes(name), `index.html names ${name}`);
      for (const kind of ["main", "styles", "theme_boot"]) {
        assert.ok(linked.some((name) => new RegExp(`^${kind}-[A-Z0-9]{8}\\.(js|css)$`).test(name)), kind);
      }
      assert.doesNotMatch(index, /<script(?![^>]*src=)|<style|style=|\son[a-z]+=|https?:/);
      const main = await Deno.readFile(join(outDir, linked.find((name) => name.startsWith("main-")) ?? ""));
      assert.ok(main.byteLength < 300_000, `the page's script has ${main.byteLength} bytes`);
      assert.ok(worker.includes("/index.html") && !worker.includes("SHELL"));
      assert.doesNotMatch(worker, /\/api/);

      assert.deepEqual(await bundleUi({ outDir }), []);
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
);
