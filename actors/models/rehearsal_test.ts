import { deepEqual, doesNotMatch, equal, match, ok } from "node:assert/strict";
import { FakeClock } from "../../tests/doubles/fake_clock.ts";
import { result as conversationSays } from "../conversation/words.ts";
import { ending, unknownOutcome } from "../toolbox/answers.ts";
import { type HistoryItem, ModelFinished, type ModelItem, type ToolSpec } from "../protocol/model.ts";
import { isModelFailed, REHEARSAL_MODEL, routeModels, type StreamDelta } from "./model_stream.ts";
import { rehearse } from "./rehearsal.ts";
import { createRehearsalStream } from "./rehearsal_stream.ts";
import { readToolLines } from "./tool_line.ts";

const tools: ToolSpec[] = ["exec_command", "ask_user", "schedule", "write_file"].map((name) => ({
  name,
  description: "",
  parameters: { type: "object" },
}));

const said = (text: string): HistoryItem[] => [{ type: "user", text }];
const FOOTER = /no AI involved.*\*$/;

function onlyCall(items: readonly ModelItem[]): { name: string; arguments: unknown } {
  const [call, ...more] = items.filter((item) => item.type === "tool_call");
  equal(more.length, 0);
  ok(call);
  return { name: call.name, arguments: JSON.parse(call.arguments) };
}

function onlyText(items: readonly ModelItem[]): string {
  const [item, ...more] = items;
  equal(more.length, 0);
  ok(item?.type === "assistant");
  return item.text;
}

Deno.test("rehearsal explains Callboard to a newcomer, and says that it is no AI", () => {
  const text = onlyText(rehearse(said("hello"), tools));

  match(text, /supervised actors/);
  match(text, /inbox/);
  match(text, FOOTER);
});

const CALLS: readonly (readonly [string, string, Record<string, unknown>])[] = [
  ["How full is the disk?", "exec_command", { command: "df -h ." }],
  ["run something", "exec_command", { command: "uname -sr && date" }],
  ["please run `ls -la` to list every file", "exec_command", { command: "ls -la" }],
  ["Ask me something.", "ask_user", {
    question: "What colour should the stage curtain be?",
    suggestions: ["Red, as ever", "Midnight blue", "Surprise me"],
  }],
  ["Remind me in 2 minutes to stretch.", "schedule", {
    key: "rehearsal-reminder",
    kind: "once",
    inSeconds: 120,
    prompt: "Reminder: stretch",
  }],
  ["remind me to call home in 90 seconds", "schedule", {
    key: "rehearsal-reminder",
    kind: "once",
    inSeconds: 90,
    prompt: "Reminder: call home",
  }],
  ["remind me", "schedule", {
    key: "rehearsal-reminder",
    kind: "once",
    inSeconds: 60,
    prompt: "Reminder: the show goes on",
  }],
  ["Write a file.", "write_file", {
    path: "rehearsal.txt",
    content: "Written by Callboard's rehearsal model, after you allowed it.\n",
  }],
  ['write "break a leg" into notes.md', "write_file", { path: "notes.md", content: "break a leg\n" }],
];

for (const [text, name, args] of CALLS) {
  Deno.test(`rehearsal answers '${text}' with a call of ${name}`, () => {
    deepEqual(onlyCall(rehearse(said(text), tools)), { name, arguments: args });
  });
}

Deno.test("rehearsal does not call a tool that it is not offered", () => {
  const text = onlyText(rehearse(said("how full is the disk?"), []));

  match(text, /exec_command/);
  match(text, /profile/);
});

Deno.test("rehearsal calls exactly what tool lines name, offered or not, JSON or not", () => {
  const items = rehearse(
    said('tool:mcp__x__y {"a": 1}\nsome words\n  tool:exec_command {"command": "ls'),
    [],
  );

  deepEqual(items.map((item) => item.type === "tool_call" && [item.name, item.arguments]), [
    ["mcp__x__y", '{"a": 1}'],
    ["exec_command", '{"command": "ls'],
  ]);
});

Deno.test("tool line without arguments means none", () => {
  deepEqual(readToolLines("tool:list_files"), [{ name: "list_files", arguments: "{}" }]);
  deepEqual(readToolLines("the tool:x is not at the start"), []);
});

/** The history after a call of `name` came back. */
function after(text: string, result: { ok: boolean; text: string }): HistoryItem[] {
  const items = rehearse(said(text), tools);
  const call = items.find((item) => item.type === "tool_call");
  ok(call);
  return [...said(text), ...items, { type: "tool_result", callId: call.callId, name: call.name, ...result }];
}

Deno.test("rehearsal quotes the real output of a command, whatever is in it", () => {
  const output = "line 1\n```\n# not a heading\n```";

  const text = onlyText(rehearse(after("run `cat x`", { ok: true, text: output }), tools));

  ok(text.includes(`\`\`\`\`\n${output}\n\`\`\`\``), text);
  match(text, /I ran `cat x`/);
  match(text, FOOTER);
});

for (const text of ["how full is the disk?", "ask me", "remind me", "write a file", "tool:foo {}"]) {
  for (const result of [{ ok: true, text: "the outcome" }, { ok: false, text: "rejected by the owner" }]) {
    Deno.test(`rehearsal ends the turn of '${text}' when the call was ${result.ok ? "allowed" : "rejected"}`, () => {
      const answer = onlyText(rehearse(after(text, result), tools));

      match(answer, new RegExp(result.text));
      match(answer, FOOTER);
      if (!result.ok) doesNotMatch(answer, /Thank you/);
    });
  }
}

Deno.test("rehearsal says what a person changed in its call, and does not claim that it ran what it had asked for", () => {
  const remark = conversationSays.edited("Ada", [
    { name: "command", before: '"echo hello"', after: '"echo edited (twice)."' },
  ]);

  const text = onlyText(rehearse(after("run `echo hello`", { ok: true, text: `${remark}edited\n` }), tools));
  const refused = onlyText(rehearse(after("run `echo hello`", { ok: false, text: `${remark}no` }), tools));

  match(text, /Ada changed my call of `exec_command`/);
  ok(text.includes('command is "echo edited (twice)." (it was "echo hello")\n'), text);
  match(text, /The command ran\. This is what came back, unaltered:\n\n```\nedited\n```/);
  doesNotMatch(text, /I ran/);
  match(refused, /Ada[^]*did not go through[^]*> no/);
});

for (
  const unknown of [
    unknownOutcome.text,
    ending({ ok: false, text: "half", aborted: true }, false).text,
    conversationSays.unknownAfter("3.0"),
    conversationSays.abortedAfter("3.0"),
  ]
) {
  Deno.test(`rehearsal does not say of a call that may have run that it did not: ${unknown.slice(0, 30)}`, () => {
    const text = onlyText(rehearse(after("run `date`", { ok: false, text: unknown }), tools));

    match(text, /Nobody knows whether the call of `exec_command` ran/);
    doesNotMatch(text, /did not go through|look for a way around/);
  });
}

Deno.test("rehearsal does not set a reminder again when it comes", () => {
  const text = onlyText(rehearse(said("[schedule rehearsal-reminder] Reminder: stretch"), tools));

  match(text, /> stretch/);
});

Deno.test("rehearsal gives each call of a conversation an id of its own", () => {
  const first = after("run it", { ok: true, text: "x" });
  const history = [...first, ...rehearse(first, tools), ...said("run it again")];

  const ids = [...first, ...rehearse(history, tools)].flatMap((item) =>
    item.type === "tool_call" ? item.callId : []
  );

  deepEqual(ids, ["rehearsal_1", "rehearsal_2"]);
});

function play(text: string, signal: AbortSignal) {
  const clock = new FakeClock();
  const deltas: StreamDelta[] = [];
  const outcome = createRehearsalStream({ clock, paceMs: 10 })({
    turnId: "t",
    step: 0,
    attempt: 0,
    model: REHEARSAL_MODEL,
    system: "",
    tools,
    items: said(text),
  }, { signal, onDelta: (delta) => deltas.push(delta) });
  return { clock, deltas, outcome };
}

Deno.test("rehearsal streams its items piece by piece, without losing a character", async () => {
  const { clock, deltas, outcome } = play("how full is the disk?", new AbortController().signal);
  await clock.advance(25);
  equal(deltas.length, 2);

  await clock.advance(60_000);

  const finished = ModelFinished.parse(await outcome);
  equal(finished.stopReason, "tool_use");
  finished.items.forEach((item, index) => {
    const streamed = deltas.filter((delta) => delta.index === index).map((delta) => delta.delta).join("");
    equal(streamed, item.type === "tool_call" ? item.arguments : item.text);
  });
  equal(clock.pending, 0);
});

Deno.test("rehearsal stops when it is cancelled", async () => {
  const abort = new AbortController();
  const { clock, deltas, outcome } = play("hello", abort.signal);
  await clock.advance(30);

  abort.abort();
  await clock.advance(1_000);

  const failed = await outcome;
  ok(isModelFailed(failed));
  equal(failed.error.class, "aborted");
  equal(deltas.length, 3);
  equal(clock.pending, 0);
});

Deno.test("router sends the rehearsal model to the script and every other name to the providers", async () => {
  const asked: string[] = [];
  const spy = (name: string) =>
    routeModels({
      rehearsal: (request) => answerAs(`rehearsal ${request.model}`),
      provider: (request) => answerAs(`provider ${request.model}`),
    })({ turnId: "t", step: 0, attempt: 0, model: name, system: "", tools: [], items: [] }, {
      signal: new AbortController().signal,
      onDelta: () => {},
    });
  const answerAs = (message: string) => {
    asked.push(message);
    return Promise.resolve({
      turnId: "t",
      step: 0,
      attempt: 0,
      error: { class: "fatal" as const, message },
      items: [],
    });
  };

  await spy("callboard/rehearsal");
  await spy("anthropic/x");

  deepEqual(asked, ["rehearsal callboard/rehearsal", "provider anthropic/x"]);
});
