/**
 * `read_file`: lines of a text file. What is returned is hashed as it was read, and must be what was described. Proven by `tools_test.ts`.
 */
import * as z from "zod";
import { resolvePath } from "../files/virtual_path.ts";
import { headTail } from "../sandbox/output.ts";
import { defineTool, oneLine, type Tool } from "../tool.ts";
import {
  CHANGED,
  failed,
  isAsDescribed,
  outsideOf,
  textOf,
  type ToolDeps,
  touch,
  withPath,
} from "./_deps.ts";

const Arguments = z.strictObject({
  path: z.string().min(1).describe("File, relative to the workspace."),
  offset: z.int().min(1).optional().describe("First line, counted from 1."),
  limit: z.int().min(1).max(100_000).optional().describe("Number of lines. Default: 2000."),
});

const DEFAULT_LINES = 2_000;

/** Builds the tool. */
export function readFile({ files }: ToolDeps): Tool {
  return defineTool({
    name: "read_file",
    description: "Reads a text file of the workspace.",
    class: "read",
    idempotent: true,
    arguments: Arguments,
    async describe({ path }, place) {
      const summary = oneLine(`Read ${path}`);
      const found = await resolvePath(place.root, path);
      if (!found.ok) return outsideOf(found.outside, summary);
      const touched = await touch(files, place, { at: found.at, access: "read" });
      return { summary: oneLine(`Read ${found.at.path}`), paths: [touched.path], outside: [], risk: "low" };
    },
    run({ path, offset = 1, limit = DEFAULT_LINES }, place, { described }) {
      return withPath(place, path, async (at) => {
        const content = await files.read(place, at);
        if (!isAsDescribed(described.paths, at, content.sha256)) return failed(CHANGED);
        const text = textOf(content.bytes);
        if (text === undefined) {
          return failed(`${at.path} is no UTF-8 text (${content.bytes.byteLength} bytes).`);
        }
        return { ok: true, text: slice(text, offset, limit) };
      });
    },
  });
}

function slice(text: string, offset: number, limit: number): string {
  if (text === "") return "(The file is empty.)";
  const lines = text.split(/(?<=\n)/);
  const chosen = lines.slice(offset - 1, offset - 1 + limit);
  if (chosen.length === 0) return `(The file has only ${lines.length} lines.)`;
  const part = headTail(chosen.join(""));
  if (chosen.length === lines.length) return part;
  return `(Lines ${offset} to ${offset - 1 + chosen.length} of ${lines.length})\n${part}`;
}
