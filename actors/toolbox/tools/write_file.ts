/**
 * `write_file`: the whole content of one file, over exactly the content that was described. Proven by `tools_test.ts`.
 */
import * as z from "zod";
import { resolvePath } from "../files/virtual_path.ts";
import { defineTool, oneLine, type Tool } from "../tool.ts";
import { CHANGED, failed, outsideOf, textOf, type ToolDeps, touch, withPath } from "./_deps.ts";
import { diffOf } from "./_diff.ts";

const Arguments = z.strictObject({
  path: z.string().min(1).describe("File, relative to the workspace. Missing folders are made."),
  content: z.string().max(900_000).describe("The whole new content."),
});

/** Builds the tool. */
export function writeFile({ files, sandbox }: ToolDeps): Tool {
  return defineTool({
    name: "write_file",
    description: "Writes a text file of the workspace, replacing it if it exists.",
    class: "write",
    idempotent: false,
    arguments: Arguments,
    async describe({ path, content }, place) {
      const summary = oneLine(`Write ${path}`);
      const found = await resolvePath(place.root, path);
      if (!found.ok) return outsideOf(found.outside, summary);
      const { path: touched, bytes } = await touch(files, place, { at: found.at, access: "write" });
      const before = bytes && (textOf(bytes) ?? "(binary content)\n");
      return {
        summary: oneLine(
          `${touched.exists ? "Replace" : "Create"} ${found.at.path} (${content.length} characters)`,
        ),
        paths: [touched],
        outside: [],
        preview: { kind: "diff", text: diffOf(found.at.path, before, content) },
        risk: sandbox.mode === "bwrap" ? "medium" : "high",
      };
    },
    run({ path, content }, place, { described }) {
      return withPath(place, path, async (at) => {
        const target = described.paths.find((touched) => touched.path === at.path);
        if (target === undefined) return failed(CHANGED);
        if (target.exists && target.sha256 === undefined) {
          return failed(`${at.path} is no file that can be replaced.`);
        }
        const bytes = new TextEncoder().encode(content);
        await files.write(place, at, { content: bytes, expected: target.sha256 });
        return { ok: true, text: `Wrote ${at.path} (${bytes.byteLength} bytes).` };
      });
    },
  });
}
