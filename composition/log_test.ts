import assert from "node:assert/strict";
import { logOf, openLog } from "./log.ts";

async function logged(json: boolean, write: (log: ReturnType<typeof logOf>) => void): Promise<string[]> {
  const lines: string[] = [];
  await openLog({
    secrets: ["hunter2-hunter2", "short"],
    level: "info",
    json,
    write: (line) => lines.push(line),
  });
  write(logOf("zulip"));
  return lines;
}

Deno.test("a secret is taken out of text and facts alike", async () => {
  const lines = await logged(
    true,
    (log) => log("error", "key hunter2-hunter2", { cause: "Bearer hunter2-hunter2" }),
  );

  assert.equal(lines.length, 1);
  assert.doesNotMatch(lines[0] ?? "", /hunter2/);
});

Deno.test("a line keeps its category, text and facts", async () => {
  const [line] = await logged(false, (log) => {
    log("debug", "not shown");
    log("warn", "a {text} with braces", { ref: "conversation/1", why: "two words" });
  });

  assert.match(line ?? "", /warning zulip: a \{text\} with braces ref=conversation\/1 why="two words"$/);
});
