import assert from "node:assert/strict";
import { SUPERVISED } from "./sandbox.ts";

/** Runs the script as the sandbox does, without the sandbox. */
async function supervised(command: string): Promise<Deno.CommandOutput> {
  const child = new Deno.Command("/bin/bash", {
    args: ["--noprofile", "--norc", "-c", SUPERVISED, "supervised", "1", command],
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const output = await child.output();
  await child.stdin.abort().catch(() => undefined);
  return output;
}

Deno.test("the script that watches a command adds nothing to its output, however fast it ends", async () => {
  const text = new TextDecoder();
  const seen = new Set<string>();

  for (let run = 0; run < 60; run++) {
    const { code, stdout, stderr } = await supervised("echo out; echo err >&2; exit 3");
    seen.add(`${code} ${text.decode(stdout)}${text.decode(stderr)}`);
  }

  assert.deepEqual([...seen], ["3 out\nerr\n"]);
});
