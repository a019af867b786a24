/**
 * `edit_file`: replaces one passage that occurs exactly once (or all of them, if asked). An edit that cannot be applied is described as what
 * it is, a read: it goes through the same judgement, so that a refused file tells nothing about itself, and then fails with the reason.
 * Proven by `tools_test.ts`.
 */
import * as z from "zod";
import { fail, ok, type Result } from "../../../lib/result.ts";
import { resolvePath } from "../files/virtual_path.ts";
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
import { diffOf } from "./_diff.ts";

const Arguments = z.strictObject({
  path: z.string().min(1).describe("File, relative to the workspace."),
  old: z.string().min(1).describe("The passage to replace, exactly as it is in the file."),
  new: z.string().describe("What takes its place."),
  all: z.boolean().optional().describe("Replace every occurrence. Default: there must be exactly one."),
});
type Arguments = z.infer<typeof Arguments>;

/** Builds the tool. */
export function editFile({ files, sandbox }: ToolDeps): Tool {
  return defineTool({
    name: "edit_file",
    description:
      "Replaces a passage of a text file of the workspace. The passage must occur exactly once, unless `all`.",
    class: "write",
    idempotent: false,
    arguments: Arguments,
    async describe(args, place) {
      const summary = oneLine(`Edit ${args.path}`);
      const found = await resolvePath(place.root, args.path);
      if (!found.ok) return outsideOf(found.outside, summary);
      const { path, bytes } = await touch(files, place, { at: found.at, access: "write" });
      const before = bytes && textOf(bytes);
      const after = before === undefined ? undefined : edit(before, args);
      if (before === undefined || !after?.ok) {
        return { summary, class: "read", paths: [{ ...path, access: "read" }], outside: [], risk: "low" };
      }
      return {
        summary: oneLine(`Edit ${found.at.path}`),
        paths: [path],
        outside: [],
        preview: { kind: "diff", text: diffOf(found.at.path, before, after.value) },
        risk: sandbox.mode === "bwrap" ? "medium" : "high",
      };
    },
    run(args, place, { described }) {
      return withPath(place, args.path, async (at) => {
        const { bytes, sha256 } = await files.read(place, at);
        if (!isAsDescribed(described.paths, at, sha256)) return failed(CHANGED);
        const before = textOf(bytes);
        if (before === undefined) return failed(`${at.path} is no UTF-8 text.`);
        const after = edit(before, args);
        if (!after.ok) return failed(`${after.error.message} in ${at.path}, so nothing was changed.`);
        if (described.class !== "write") return failed(CHANGED);
        await files.write(place, at, { content: new TextEncoder().encode(after.value), expected: sha256 });
        return { ok: true, text: `Edited ${at.path}.` };
      });
    },
  });
}

/** Applies the edit; a failure says how often the passage was found. */
export function edit(text: string, args: Pick<Arguments, "old" | "new" | "all">): Result<string> {
  const parts = text.split(args.old);
  const count = parts.length - 1;
  if (count === 0) return fail("not_found", "The passage does not occur");
  if (count > 1 && !args.all) return fail("conflict", `The passage occurs ${count} times`);
  return ok(parts.join(args.new));
}
