/**
 * `exec_command`: one bash command in the workspace, without network, with a time limit. Its digest binds the exact script and folder; what
 * it does to files is bounded by the sandbox, not by its description, and the sandbox shows it no protected place. Proven by `tools_test.ts`.
 */
import * as z from "zod";
import { resolvePath } from "../files/virtual_path.ts";
import { hiddenPlaces } from "../sandbox/hidden_places.ts";
import { HeadTail, MODEL_CHARS } from "../sandbox/output.ts";
import { LiveOutput } from "../sandbox/live_output.ts";
import type { Exit } from "../sandbox/process.ts";
import { SUPERVISED } from "../sandbox/sandbox.ts";
import { defineTool, oneLine, type Tool } from "../tool.ts";
import { failed, outsideOf, type ToolDeps } from "./_deps.ts";

const Arguments = z.strictObject({
  command: z.string().min(1).max(100_000).describe("A bash script."),
  cwd: z.string().optional().describe("Folder to run it in, relative to the workspace. Default: its root."),
  timeoutSeconds: z.number().min(1).max(3_600).optional().describe("Time limit. Default: 120."),
});

const DEFAULT_SECONDS = 120;
/** Between SIGTERM and SIGKILL. */
const GRACE_SECONDS = 0.5;

/** Builds the tool. */
export function execCommand({ sandbox, clock }: ToolDeps): Tool {
  const isolated = sandbox.mode === "bwrap";
  return defineTool({
    name: "exec_command",
    description:
      "Runs a bash command in the conversation's workspace (/workspace inside). There is no network. " +
      "Standard input is empty. Only the workspace and /tmp are writable; background processes end with the command.",
    class: "exec",
    idempotent: false,
    arguments: Arguments,
    async describe({ command, cwd, timeoutSeconds = DEFAULT_SECONDS }, place) {
      const summary = oneLine(`Run: ${command}`);
      const found = await resolvePath(place.root, cwd ?? "/");
      if (!found.ok) return outsideOf(found.outside, summary);
      return {
        summary,
        paths: [],
        outside: [],
        argv: ["bash", "-c", command],
        cwd: found.at.path,
        timeoutSeconds,
        preview: { kind: "command", text: command },
        risk: isolated ? "medium" : "high",
      };
    },
    async run({ command, cwd, timeoutSeconds = DEFAULT_SECONDS }, place, io) {
      const found = await resolvePath(place.root, cwd ?? "/");
      if (!found.ok) return failed(`"${found.outside}" is outside the workspace.`);
      if (found.at.kind !== "directory") return failed(`${found.at.path} is no folder.`);
      const hidden = await hiddenPlaces(place.root, isolated ? place.hidden : [], { signal: io.signal });
      if (!hidden.ok) return failed(hidden.error.message);
      if (hidden.value.some(({ path }) => isWithin(found.at.path, path))) {
        return failed(`${found.at.path} is protected: no command may see it.`);
      }
      const kept = new HeadTail(MODEL_CHARS);
      const live = new LiveOutput(clock, (text) => kept.add(text), io.onOutput);
      const exit = await sandbox.run({
        script: SUPERVISED,
        args: [String(GRACE_SECONDS), command],
        workspace: place.root,
        hidden: hidden.value,
        cwd: found.at.folders.join("/"),
        timeoutMs: timeoutSeconds * 1_000,
        // The script itself kills its group after the grace; ours is the last resort.
        graceMs: GRACE_SECONDS * 1_000 + 1_500,
        signal: io.signal,
        onOutput: (stream, bytes) => live.add(stream, bytes),
      });
      live.end();
      return {
        ok: true,
        text: report(exit, kept, timeoutSeconds),
        exitCode: exit.code,
        aborted: exit.how === "aborted",
      };
    },
  });
}

function isWithin(path: string, folder: string): boolean {
  return folder === "/" || path === folder || path.startsWith(`${folder}/`);
}

/** Exit code and time first, so that they survive every cut. */
function report(exit: Exit, kept: HeadTail, limitSeconds: number): string {
  const how = exit.how === "timed_out"
    ? ` (stopped at its time limit of ${limitSeconds} s)`
    : exit.how === "aborted"
    ? " (stopped)"
    : "";
  const output = kept.text();
  return [
    `Exit code: ${exit.code}${how}`,
    `Wall time: ${(exit.durationMs / 1_000).toFixed(1)} s`,
    output === "" ? "No output." : `Output:\n${output}`,
  ].join("\n");
}
