/**
 * `list_files`: what lies below a folder; links are named, never followed. Proven by `tools_test.ts`.
 */
import * as z from "zod";
import { resolvePath } from "../files/virtual_path.ts";
import { headTail } from "../sandbox/output.ts";
import { defineTool, oneLine, type Tool } from "../tool.ts";
import { outsideOf, type ToolDeps, withPath } from "./_deps.ts";

const Arguments = z.strictObject({
  path: z.string().optional().describe("Folder, relative to the workspace. Default: its root."),
  depth: z.int().min(1).max(20).optional().describe("How many levels down. Default: 2."),
});

const LIMIT = 1_000;

/** Builds the tool. */
export function listFiles({ files }: ToolDeps): Tool {
  return defineTool({
    name: "list_files",
    description:
      "Lists files and folders of the workspace. Folders end with a slash; what is in .git is left out.",
    class: "read",
    idempotent: true,
    arguments: Arguments,
    async describe({ path = "/" }, place) {
      const summary = oneLine(`List ${path}`);
      const found = await resolvePath(place.root, path);
      if (!found.ok) return outsideOf(found.outside, summary);
      const touched = { path: found.at.path, access: "read" as const, exists: found.at.kind !== "missing" };
      return { summary, paths: [touched], outside: [], risk: "low" };
    },
    run({ path = "/", depth = 2 }, place) {
      return withPath(place, path, async (at) => {
        const entries = await files.list(place, at, { depth, limit: LIMIT + 1 });
        const lines = entries.slice(0, LIMIT).map(({ path, kind, size }) =>
          kind === "directory"
            ? `${path}/`
            : kind === "file"
            ? `${path} (${size} bytes)`
            : `${path} (${kind})`
        );
        if (entries.length > LIMIT) lines.push(`(More than ${LIMIT} entries; list a subfolder.)`);
        return { ok: true, text: lines.length === 0 ? "(The folder is empty.)" : headTail(lines.join("\n")) };
      });
    },
  });
}
