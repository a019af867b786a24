import assert from "node:assert/strict";
import fc from "fast-check";
import type { RuleView, ToolView } from "../../edge/api.ts";
import {
  sampleAudit,
  sampleRule,
  sampleRules,
  sampleTools,
} from "../../tests/doubles/fake_api/policy_samples.ts";
import { answered, Refusal, signedIn, UI_NOW } from "../../tests/doubles/ui_app.ts";
import { draftOf, limitProblem, ruleOf } from "../policy/rule_draft.ts";
import { createAsking } from "./asking.ts";
import { filterAudit } from "./audit.ts";
import { orderAfterMove } from "./rule_order.ts";
import { createReading } from "./reading.ts";
import {
  folderChoiceOf,
  folderRule,
  inputOf,
  sectionsOf,
  toolGroups,
  toolRule,
  verdictFor,
  verdictForFiles,
  verdictForRest,
  verdictForTool,
} from "./rule_sections.ts";

const now = UI_NOW;
const rules = sampleRules(now);

/** A rule as it would come back from the server. */
const stored = (id: string, input: Partial<RuleView>): RuleView => sampleRule(id, now, input);

Deno.test("a rule moves past its neighbour of equal priority and past no other rule", () => {
  const at = (id: string, ordinal: number, priority = 100) => stored(id, { ordinal, priority });
  const [a, hidden, b, later] = [at("a", 1), at("hidden", 2), at("b", 3), at("later", 4, 900)];
  const all = [later, b, hidden, a];

  assert.deepEqual(orderAfterMove(all, b, a), { groupId: "default", ids: ["b", "a", "hidden"] });
  assert.deepEqual(orderAfterMove(all, a, b), { groupId: "default", ids: ["hidden", "b", "a"] });
  assert.equal(orderAfterMove(all, b, later), undefined, "a priority stands between them");
  assert.equal(orderAfterMove(all, a, undefined), undefined);
});

// --- sections ---

Deno.test("every rule of a group stands in exactly one section", () => {
  const rule = fc.record({
    id: fc.uuid(),
    priority: fc.constantFrom(-5, 0, 100, 1000, 1_000_000),
    toolPattern: fc.constantFrom("*", "mcp__*", "exec_command", "@fs_any", "@fs_read"),
    pathPattern: fc.constantFrom(null, "/a/*"),
    argvPrefix: fc.constantFrom<string[] | null>(null, ["ls"]),
    source: fc.constantFrom(null, "web"),
  });

  fc.assert(fc.property(fc.uniqueArray(rule, { selector: ({ id }) => id, maxLength: 12 }), (drawn) => {
    const own = drawn.map(({ id, ...more }, ordinal) => stored(id, { ...more, ordinal }));
    const { overrides, folders, tools, rest, last } = sectionsOf(own, "default");

    const placed = [...overrides, ...folders, ...tools.values(), ...rest, ...(last ? [last] : [])];
    assert.deepEqual(placed.map(({ id }) => id).sort(), own.map(({ id }) => id).sort());
  }));
});

Deno.test("what a tool gets now is what the engine says, filtered rules and other groups included", () => {
  const shell = { tool: "exec_command", class: "exec" } as const;

  assert.equal(verdictFor(rules, { group: "default", facts: shell, now }).ref, "r7");
  assert.equal(verdictFor(rules, { group: "night", facts: shell, now }).outcome, "deny");
  assert.equal(verdictForRest(rules, "default", now).outcome, "ask");
  assert.equal(verdictForRest([], "default", now).outcome, "ask");
  assert.equal(verdictForRest(rules, "night", now).outcome, "deny");
  assert.equal(verdictForFiles(rules, { group: "default", access: "read", now }).by, "fast_path");
  assert.equal(verdictForFiles(rules, { group: "default", access: "write", now }).outcome, "ask");
});

Deno.test("a limit that is none by mistake is said to be one, and nothing is no limit", () => {
  for (const text of ["", " ", "5", " 12 "]) assert.equal(limitProblem(text), undefined, text);
  for (const text of ["0", "ten", "5x", "-1", "1.5"]) {
    assert.match(limitProblem(text) ?? "", /whole number/, text);
  }
});

Deno.test("what a tool gets now goes by its configuration and, where it is believed, by its server", () => {
  const reading = stored("reads", { toolPattern: "@mcp_read_only", action: "allow" });
  const tool = sampleTools(now).find(({ name }) => name === "mcp__github__search");
  assert.ok(tool);
  const gets = (more: Partial<ToolView>, twoPersons: readonly string[] = []) =>
    verdictForTool([reading], { ...tool, ...more }, { group: "default", twoPersons, now }).outcome;

  assert.equal(gets({ trusted: true }), "allow");
  assert.equal(gets({ trusted: false }), "ask");
  assert.equal(gets({ trusted: true, mode: "prompt" }), "ask");
  assert.equal(gets({ trusted: false, mode: "approve" }), "allow");
  assert.equal(gets({ trusted: true }, ["mcp__github__*"]), "ask");
});

Deno.test("a tool's answer stands behind rules that name a command, so it never hides them", () => {
  const allow = stored("new", toolRule("default", "exec_command", "allow") as Partial<RuleView>);
  const { overrides, rest } = sectionsOf([...rules, allow], "default");

  assert.ok(
    [...overrides, ...rest].filter((rule) => rule.argvPrefix !== null)
      .every((rule) => rule.priority < allow.priority),
  );
});

Deno.test("of two folders the deeper one is looked at first, and no folder lies outside", () => {
  const outer = folderRule("default", "./reports/", "write");
  const inner = folderRule("default", "/reports/archive/*", "deny");
  assert.ok(outer && inner);

  assert.equal(outer.pathPattern, "/reports/*");
  assert.equal(inner.pathPattern, "/reports/archive/*");
  assert.ok((inner.priority ?? 0) < (outer.priority ?? 0));
  for (const none of ["", "/", "..", "a/../b", "*"]) {
    assert.equal(folderRule("default", none, "read"), undefined, none);
  }
});

Deno.test("changing a folder's answer loses none of its conditions", () => {
  const rule = stored("f", {
    toolPattern: "@fs_write",
    action: "ask",
    pathPattern: "/a/*",
    agent: "nightly",
    source: "channel",
    maxUses: 3,
    note: "mine",
  });

  assert.equal(folderChoiceOf(rule), undefined, "a write-only rule is not shown as read and write");
  const { id: _, layer: __, ordinal: ___, uses: ____, ...expected } = rule;
  assert.deepEqual({ ...expected, ...inputOf(rule) }, expected);
});

Deno.test("a rule survives the form unchanged", () => {
  for (const rule of rules) {
    assert.deepEqual(ruleOf(draftOf(rule), { groupId: rule.groupId, rule, now }), inputOf(rule), rule.id);
  }
});

Deno.test("the matrix has our tools first and leaves file tools to the folders", () => {
  const names = toolGroups(sampleTools(now)).map(([name]) => name);

  assert.deepEqual(names, ["plan", "exec", "schedule", "mcp:github", "mcp:mail"]);
});

// --- readings, questions, changes ---

/** Promises that are settled by hand, in order of asking. */
function byHand<Value>(): {
  readonly ask: () => Promise<Value>;
  readonly settle: ((value: Value) => void)[];
} {
  const settle: ((value: Value) => void)[] = [];
  return { settle, ask: () => new Promise((resolve) => settle.push(resolve)) };
}

Deno.test("a list asked for twice at once is read once more afterwards, and forgotten lists stay forgotten", async () => {
  const { ask, settle } = byHand<string>();
  const list = createReading(ask);

  void list.load();
  void list.load();
  settle[0]?.("old");
  await answered();
  assert.equal(settle.length, 2);
  settle[1]?.("new");
  await answered();
  assert.equal(list.value.value, "new");

  void list.load();
  list.clear();
  settle[2]?.("of somebody who has signed out");
  await answered();
  assert.equal(list.value.value, undefined);
});

Deno.test("the last question wins, whatever order answers arrive in", async () => {
  const { ask, settle } = byHand<string>();
  const question = createAsking<string, string>(ask);

  void question.ask("first");
  void question.ask("second");
  settle[1]?.("second");
  settle[0]?.("first");
  await answered();

  assert.equal(question.answer.value, "second");
  assert.equal(question.isBusy.value, false);
});

Deno.test("a change is shown as carried out only when it was, and its lists are read again", async () => {
  const { app, answers, calls } = await signedIn();
  const { policy } = app;
  answers.set("GET /rules", () => ({ groups: [], rules }));
  answers.set("DELETE /rules/r2", () => ({ command: "x1" }));
  answers.set(
    "DELETE /rules/r3",
    () => new Refusal(403, { error: { code: "forbidden", message: "Only the owner" } }),
  );
  await policy.rules.load();

  assert.equal(await policy.changes.run("rule/r2", () => policy.commands.deleteRule("r2")), true);
  assert.equal(calls.filter(({ call }) => call === "GET /rules").length, 2);
  assert.equal(policy.changes.progress.value.size, 0);

  assert.equal(await policy.changes.run("rule/r3", () => policy.commands.deleteRule("r3")), false);
  assert.deepEqual(policy.changes.progress.value.get("rule/r3"), {
    phase: "refused",
    message: "Only the owner",
  });
});

Deno.test("a change that was only accepted is followed to its end", async () => {
  const { app, answers, timers } = await signedIn();
  const { policy } = app;
  let state = "pending";
  answers.set("DELETE /rules/r2", () => new Refusal(202, { command: "x1" }));
  answers.set(
    "GET /commands/x1",
    () => ({ command: "x1", state, error: { code: "conflict", message: "Gone" } }),
  );

  const run = policy.changes.run("rule/r2", () => policy.commands.deleteRule("r2"));
  await answered();
  assert.equal(policy.changes.progress.value.get("rule/r2")?.phase, "accepted");
  timers.at(-1)?.run();
  await answered();
  state = "failed";
  timers.at(-1)?.run();

  assert.equal(await run, false);
  assert.deepEqual(policy.changes.progress.value.get("rule/r2"), { phase: "refused", message: "Gone" });
});

Deno.test("a stop by somebody else arrives by itself", async () => {
  const { app, answers, streams } = await signedIn();
  let suspended: unknown = null;
  answers.set("GET /effects", () => ({ suspended }));
  await app.policy.effects.load();

  suspended = { by: "Grace", at: now };
  streams[0]?.emit("policy", { ref: "effects" }, 7);
  await answered();

  assert.equal(app.policy.effects.value.value?.suspended?.by, "Grace");
});

// --- the log ---

Deno.test("the log begins with its newest entries, goes back page by page, and adds what is new without a gap", async () => {
  const { app, answers } = await signedIn();
  const log = sampleAudit(now).reverse();
  const seqs = () => app.audit.entries.value.map(({ seq }) => seq);
  answers.set("GET /audit?order=desc&limit=200", () => ({ entries: log.slice(2, 4), next: 2 }));
  answers.set("GET /audit?order=desc&before=2&limit=200", () => ({ entries: log.slice(4) }));
  answers.set("GET /audit?order=desc&after=3&limit=200", () => ({ entries: log.slice(0, 1), next: 5 }));
  answers.set("GET /audit?order=desc&before=5&after=3&limit=200", () => ({ entries: log.slice(1, 2) }));

  await app.audit.load();
  assert.deepEqual(seqs(), [3, 2]);
  assert.equal(app.audit.hasOlder.value, true);
  await app.audit.loadOlder();
  assert.equal(app.audit.hasOlder.value, false);
  await app.audit.load();

  assert.deepEqual(seqs(), [5, 4, 3, 2, 1]);
});

Deno.test("a filter of the log needs every word and takes a surface", () => {
  const log = sampleAudit(now).reverse();
  const seqs = (search: string, surface = "") => filterAudit(log, { search, surface }).map(({ seq }) => seq);

  assert.deepEqual(seqs(""), [5, 4, 3, 2, 1]);
  assert.deepEqual(seqs("ADA exec_command"), [5, 3]);
  assert.deepEqual(seqs("", "zulip"), [2]);
});
