/** Proves what becomes of a question that a running MCP server asks: against the protocol authors' server and one made with their SDK. */
import assert from "node:assert/strict";
import { seal } from "../../../lib/sealed.ts";
import type { Send } from "../../../runtime/actor.ts";
import { asking } from "../../../tests/doubles/asking_server.ts";
import { FakeClock } from "../../../tests/doubles/fake_clock.ts";
import { everything } from "../../../tests/doubles/everything_server.ts";
import { ToolboxWorld } from "../../../tests/doubles/toolbox_world.ts";
import { type QuestionAnswered, QuestionRaise, QuestionWithdrawn } from "../../protocol/approval.ts";
import { ToolsKnown } from "../../protocol/tools.ts";
import { RunningCall } from "./running_call.ts";

const SERVER = "asking";

async function open(tool: string, args: Record<string, unknown> = {}, config = asking()) {
  const world = await ToolboxWorld.open({ mcpServers: [config] });
  const name = `mcp__${config.name}__${tool}`;
  await world.until((send) =>
    send.type === "tools.known" && ToolsKnown.parse(send.payload).tools.some((known) => known.name === name)
  );
  const callId = await world.propose(name, args);
  const running = world.grant(callId);
  return { world, callId, running };
}

/** The n-th question, from 1. */
async function raised(world: ToolboxWorld, n = 1): Promise<QuestionRaise> {
  const isRaise = (send: Send) => send.type === "question.raise";
  await world.until((send) => isRaise(send) && world.sent.filter(isRaise).indexOf(send) === n - 1);
  return QuestionRaise.parse(world.sent.filter(isRaise)[n - 1]?.payload);
}

function withdrawn(world: ToolboxWorld): QuestionWithdrawn {
  return QuestionWithdrawn.parse(world.sent.find(isWithdrawal)?.payload);
}

const isWithdrawal = (send: Send) => send.type === "question.withdrawn";

function answer(
  world: ToolboxWorld,
  callId: string,
  outcome: "answered" | "declined" | "cancelled",
  text?: string,
) {
  const payload = { callId, outcome, ...(text === undefined ? {} : { answer: text }), by: "Ada" };
  return world.deliver({ type: "question.answered", from: "approval", payload });
}

const signal = (world: ToolboxWorld, name: string) =>
  Deno.writeTextFile(`${world.folder}/workspaces/.mcp/${SERVER}/${name}`, "");

Deno.test("a form reaches people with every field as it is, and its server gets what they filled in", async () => {
  const { world, callId, running } = await open("form");
  await using _ = world;
  const { form, asker, sealTo, expiresInSeconds } = await raised(world);

  const given = { name: "Ada", age: "36", born: "2001-02-03", colour: "b", tags: ["x"] };
  await answer(world, callId, "answered", JSON.stringify(given));
  await running;

  assert.deepEqual(asker, { server: "asking", tool: "form", sandboxed: true });
  assert.equal(form?.message, "About you");
  const types = form?.fields.map(({ name, type, required }) => `${name} ${type}${required ? " *" : ""}`);
  assert.deepEqual(types, [
    "name string *",
    "mail string",
    "born string",
    "age integer *",
    "sure boolean",
    "colour choice",
    "tags choices",
  ]);
  assert.deepEqual([sealTo, expiresInSeconds], [undefined, undefined]);
  const content = { name: "Ada", age: 36, born: "2001-02-03", sure: true, colour: "b", tags: ["x"] };
  const { action, content: got } = JSON.parse(world.result(callId).text);
  assert.deepEqual([action, got], ["accept", content]);
});

Deno.test("what does not fit is asked again, with the reason, and never reaches the server", async () => {
  const { world, callId, running } = await open("form");
  await using _ = world;
  await raised(world);

  await answer(world, callId, "answered", JSON.stringify({ name: "Ada", age: 3.5 }));
  const again = await raised(world, 2);
  await answer(world, callId, "cancelled");
  await running;

  assert.match(again.form?.message ?? "", /"age" must be a whole number/);
  assert.deepEqual(JSON.parse(world.result(callId).text), { action: "cancel" });
});

for (const [outcome, action] of [["declined", "decline"], ["cancelled", "cancel"]] as const) {
  Deno.test(`a form that is ${outcome} tells its server "${action}"`, async () => {
    const { world, callId, running } = await open("confirm");
    await using _ = world;
    const { form } = await raised(world);

    await answer(world, callId, outcome);
    await running;

    assert.deepEqual(form?.fields, []);
    assert.deepEqual(JSON.parse(world.result(callId).text), { action });
  });
}

Deno.test("a form with one secret field is sealed whole, and waits five minutes at most", async () => {
  const { world, callId, running } = await open("login");
  await using _ = world;
  const { form, sealTo, expiresInSeconds } = await raised(world);
  assert.ok(sealTo);

  const text = JSON.stringify({ user: "ada", password: "12345678" });
  await answer(world, callId, "answered", await seal(sealTo, text));
  await running;

  assert.equal(expiresInSeconds, 300);
  assert.deepEqual(form?.fields.map(({ name, secret }) => [name, secret]), [["user", false], [
    "password",
    true,
  ]]);
  assert.match(world.result(callId).text, /accept: ada has a password of 8 letters/);
});

Deno.test("a page to open is shown as it is, and opening it is the answer", async () => {
  const { world, callId, running } = await open("link", { url: "https://id.example/login?x=1" });
  await using _ = world;
  const { link, form } = await raised(world);

  await answer(world, callId, "answered", "opened");
  await running;

  assert.deepEqual([link, form], [
    { message: "Sign in there", url: "https://id.example/login?x=1" },
    undefined,
  ]);
  assert.deepEqual(JSON.parse(world.result(callId).text), { action: "accept" });
});

Deno.test("a page that nobody should open is declined without asking", async () => {
  const { world, callId, running } = await open("link", { url: "http://id.example/login" });
  await using _ = world;

  await running;

  assert.equal(world.sent.some((send) => send.type === "question.raise"), false);
  assert.deepEqual(JSON.parse(world.result(callId).text), { action: "decline" });
});

Deno.test("a page that the server calls done is asked for no more", async () => {
  const { world, callId, running } = await open("link", { url: "https://id.example/" });
  await using _ = world;
  await raised(world);

  await signal(world, "done");
  await running;

  assert.match(withdrawn(world).reason, /says that it is done/);
  assert.deepEqual(JSON.parse(world.result(callId).text), { action: "accept" });
});

Deno.test("a call that is refused until a page was opened is tried again when it was", async () => {
  const { world, callId, running } = await open("guarded");
  await using _ = world;
  assert.equal((await raised(world)).link?.url, "https://id.example/consent?for=1");

  await answer(world, callId, "answered", "opened");
  const { form } = await raised(world, 2);
  await signal(world, "done");
  await running;

  assert.match(form?.message ?? "", /Are you done/);
  assert.match(world.result(callId).text, /let in/);
});

Deno.test("the protocol authors' server too lets a call in after its page, by the person's word", async () => {
  const args = { url: "https://example.org/", errorPath: true };
  const { world, callId, running } = await open("trigger-url-elicitation", args, everything());
  await using _ = world;

  await raised(world);
  await answer(world, callId, "answered", "opened");
  await raised(world, 2);
  await answer(world, callId, "answered", "{}");
  assert.equal((await raised(world, 3)).link?.url, "https://example.org/");
  await answer(world, callId, "declined");
  await running;

  assert.match(world.result(callId).text, /declined to open the URL/);
});

Deno.test("a call whose page nobody opens is told so", async () => {
  const { world, callId, running } = await open("guarded");
  await using _ = world;
  await raised(world);

  await answer(world, callId, "declined");
  await running;

  assert.equal(world.result(callId).outcome, "failed");
  assert.match(world.result(callId).text, /nobody has/);
});

Deno.test("a server that dies while it asks takes its question with it", async () => {
  const { world, callId, running } = await open("mortal");
  await using _ = world;
  await raised(world);

  await signal(world, "die");
  await running;

  assert.equal(world.result(callId).outcome, "failed");
  assert.deepEqual(
    world.sent.filter(isWithdrawal).map(({ payload }) => QuestionWithdrawn.parse(payload).callId),
    [
      callId,
    ],
  );
});

Deno.test("a question that its server takes back is withdrawn, and the call goes on", async () => {
  const { world, callId, running } = await open("fickle");
  await using _ = world;
  await raised(world);

  await signal(world, "back");
  await running;

  assert.equal(withdrawn(world).callId, callId);
  assert.match(world.result(callId).text, /taken back/);
});

Deno.test("a call that is cancelled while it asks withdraws its question", async () => {
  const { world, callId, running } = await open("confirm");
  await using _ = world;
  await raised(world);

  await world.cancel(callId);
  await running;

  assert.equal(world.result(callId).outcome, "cancelled");
  assert.equal(world.sent.filter(isWithdrawal).length, 1);
});

Deno.test("a toolbox that dies while a question is open withdraws it when it is back", async () => {
  const { world, callId, running } = await open("confirm");
  await using _ = world;
  await raised(world);

  await world.restart();
  await running;
  await answer(world, callId, "answered", "{}");
  await world.redeliver(callId);

  assert.equal(world.result(callId).outcome, "unknown");
  const reasons = world.sent.filter(isWithdrawal).map(({ payload }) => QuestionWithdrawn.parse(payload));
  assert.deepEqual(reasons.map(({ unheard }) => unheard), [true, false]);
  assert.match(reasons[1]?.reason ?? "", /stopped meanwhile/);
});

Deno.test("a toolbox that runs a call again withdraws first what the last one had asked", async () => {
  const { world, callId, running } = await open("confirm", {}, asking({ trusted: true }));
  await using _ = world;
  await raised(world);

  await world.restart();
  await running;
  const again = world.redeliver(callId);
  await raised(world);
  await answer(world, callId, "answered", "{}");
  await again;

  const questions = world.sent.map(({ type }) => type).filter((type) => type.startsWith("question."));
  assert.deepEqual(questions, ["question.withdrawn", "question.raise"]);
  assert.deepEqual(JSON.parse(world.result(callId).text), { action: "accept", content: {} });
});

Deno.test("a second question at once is refused, and the time limit still stands still while a person has the first", async () => {
  const clock = new FakeClock();
  const first = Promise.withResolvers<QuestionAnswered>();
  const answers = [first.promise, Promise.reject(new Error("one at a time"))];
  const io = { signal: new AbortController().signal, ask: () => answers.shift() ?? Promise.reject() };
  const call = new RunningCall("tool", io, 1_000, clock);
  const question = { question: "?", suggestions: [] };

  const asked = call.ask(question, io.signal);
  await assert.rejects(call.ask(question, io.signal), /one at a time/);
  await clock.advance(60_000);
  assert.equal(call.signal.aborted, false);
  first.resolve({ callId: "c", outcome: "answered" });
  await asked;
  await clock.advance(1_000);

  assert.equal(call.signal.aborted, true);
  call.end();
  assert.equal(clock.pending, 0);
});
