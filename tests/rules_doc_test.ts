/** Executes the tables of `docs/rules.md`: every row, judged by the function that judges in the product. */
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { ruleProblem } from "../lib/policy/check_rule.ts";
import { judge } from "../lib/policy/judge.ts";
import type { Bypass, Call, Context, Rule } from "../lib/policy/rule.ts";

/** Words and `key=value` pairs of a code span; quotes hold a value together. */
function read(
  span: string,
): { readonly words: readonly string[]; readonly pairs: ReadonlyMap<string, string> } {
  const words: string[] = [];
  const pairs = new Map<string, string>();
  for (const [, key, value, word] of span.matchAll(/(?:(\w+)=("[^"]*"|\S+))|("[^"]*"|\S+)/g)) {
    const plain = (text: string) => text.replace(/^"|"$/g, "");
    if (key !== undefined && value !== undefined) pairs.set(key, plain(value));
    else if (word !== undefined) words.push(plain(word));
  }
  return { words, pairs };
}

function ruleOf(span: string, ordinal: number): Rule {
  const { words: [action, toolPattern = "", ...flags], pairs } = read(span);
  assert.ok(action === "allow" || action === "ask" || action === "deny", span);
  const rule: Rule = {
    id: span,
    groupId: pairs.get("group") ?? "default",
    layer: flags.includes("protected") ? "protected" : "normal",
    ordinal,
    priority: Number(pairs.get("priority") ?? 100),
    action,
    toolPattern,
    pathPattern: pairs.get("path") ?? null,
    argvPrefix: pairs.get("command")?.split(" ") ?? null,
    agent: pairs.get("agent") ?? null,
    source: pairs.get("source") ?? null,
    expiresAt: null,
    maxUses: null,
    uses: 0,
  };
  assert.equal(ruleProblem(rule), undefined, span);
  return rule;
}

const classes: Readonly<Record<string, Call["class"]>> = {
  read_file: "read",
  write_file: "write",
  edit_file: "write",
  exec_command: "exec",
};

function callOf(
  span: string,
): { readonly call: Call; readonly context: Context; readonly bypassed: boolean } {
  const { words: [tool = "", ...rest], pairs } = read(span);
  const kind = classes[tool] ?? "mcp";
  const [at] = rest.filter((word) => word !== "trusted" && word !== "bypass");
  const says = pairs.get("says") === "read-only" ? { readOnly: true } : undefined;
  const mode = pairs.get("mode");
  const call: Call = {
    tool,
    class: kind,
    source: kind === "mcp" ? `mcp:${tool.split("__")[1]}` : "builtin",
    paths: (kind === "read" || kind === "write") && at !== undefined
      ? [{ path: `/${at}`, access: kind }]
      : [],
    outside: [],
    argv: kind === "exec" && at !== undefined ? ["bash", "-c", at] : undefined,
    askOnce: false,
    known: true,
    hints: rest.includes("trusted") ? says : undefined,
    mode: mode === "approve" || mode === "prompt" ? mode : undefined,
  };
  const source = pairs.get("source") ?? "web";
  assert.ok(source === "web" || source === "channel" || source === "dm", span);
  const context: Context = {
    conversation: "c",
    agent: pairs.get("agent") ?? "main",
    source,
    trigger: pairs.get("by") === "schedule" ? "schedule" : "person",
    group: "own",
    now: 1,
  };
  return { call, context, bypassed: rest.includes("bypass") };
}

const everything: Bypass = { id: "b", conversation: "c", scope: "all", pattern: null, uses: 0, expiresAt: 2 };
const text = await Deno.readTextFile(fileURLToPath(new URL("../docs/rules.md", import.meta.url)));
const rows = text.split("\n").filter((line) => line.startsWith("| `"))
  .map((line) => line.split("|").slice(1, 4).map((cell) => cell.trim()));

for (const [rules = "", call = "", answer] of rows) {
  Deno.test(`as documented: ${rules}, ${call}: ${answer}`, () => {
    const spans = [...rules.matchAll(/`([^`]+)`/g)].map(([, span = ""]) => span);
    const { call: judged, context, bypassed } = callOf(call.replaceAll("`", ""));

    const policy = { rules: spans.map(ruleOf), bypasses: bypassed ? [everything] : [] };

    assert.equal(judge(policy, judged, context).outcome, answer);
  });
}

Deno.test("the documentation of rules has examples", () =>
  assert.ok(rows.length > 40, `${rows.length} rows`));
