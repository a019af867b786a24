/** Proves what becomes of a tool's questions: forms, links, secrets, and questions that nobody waits for any more; against a real database. */
import assert from "node:assert/strict";
import { getItem } from "../../../store/queries/items.ts";
import {
  type ApprovalDesk,
  decided,
  furnished,
  itemState,
  owner,
  put,
} from "../../../tests/doubles/approval_desk.ts";
import type { QuestionRaise } from "../../protocol/approval.ts";

async function raise(desk: ApprovalDesk, callId: string, more: Partial<QuestionRaise> = {}) {
  await desk.post("toolbox", "question.raise", {
    callId,
    turnId: "t1",
    conversation: "c1",
    kind: "elicitation",
    question: "Who?",
    ...more,
  });
  return [...desk.state.items.values()].find((item) => item.callId === callId)?.id;
}

const answers = async (desk: ApprovalDesk) =>
  (await desk.sent("question.answered")).map(({ payload }) => payload.outcome);
const withdraw = (desk: ApprovalDesk, callId: string, unheard = false) =>
  desk.post("toolbox", "question.withdrawn", { callId, reason: "The server died.", unheard });

Deno.test("a question that nobody waits for any more is no longer needed, and says why", async () => {
  await using desk = await furnished();
  const id = await raise(desk, "a");
  await desk.restart();

  await withdraw(desk, "a");
  const late = await put(desk, id, { decision: "answer", answer: "x" });
  await desk.work();

  const item = await getItem(desk.db, id ?? "", owner);
  assert.deepEqual([item?.state, item?.note], ["superseded", "The server died."]);
  assert.equal(late.ok, false);
  assert.deepEqual(await answers(desk), []);
  assert.equal((await desk.sent("card.show")).at(-1)?.payload.state, "superseded");
});

Deno.test("an answer that was on its way when the question was withdrawn does not count as heard", async () => {
  await using desk = await furnished();
  const id = await raise(desk, "a");
  await desk.queue("toolbox", "question.withdrawn", { callId: "a", reason: "The server died." });
  assert.ok((await put(desk, id, { decision: "answer", answer: "x" })).ok);

  await desk.work();

  assert.equal(await itemState(desk, id), "superseded");
  assert.deepEqual(await answers(desk), []);
});

Deno.test("an answer that reached nobody is not shown as one that did", async () => {
  await using desk = await furnished();
  const first = await raise(desk, "a");
  await decided(desk, first, { decision: "answer", answer: "x" });
  const second = await raise(desk, "a");
  await decided(desk, second, { decision: "answer", answer: "y" });

  await withdraw(desk, "a", true);

  assert.deepEqual([await itemState(desk, first), await itemState(desk, second)], ["applied", "superseded"]);
});

Deno.test("a withdrawal ends no call that waits for permission", async () => {
  await using desk = await furnished();
  const id = await desk.judge("a", "exec_command");

  await withdraw(desk, "a");

  assert.equal(await itemState(desk, id), "waiting");
});

Deno.test("dismissing a server's form tells the server, and the turn goes on", async () => {
  await using desk = await furnished();
  const id = await raise(desk, "a");

  await decided(desk, id, { decision: "cancel" });

  assert.deepEqual(await answers(desk), ["cancelled"]);
  assert.deepEqual(await desk.sent("conversation.stop"), []);
});

Deno.test("who asks, the form and the page to open are there for people, also after a restart", async () => {
  await using desk = await furnished();
  const asker = { server: "vault", tool: "login", sandboxed: true };
  const form = {
    message: "Who are you?",
    fields: [{ name: "n", label: "Name", type: "string" as const, required: true, secret: false }],
  };
  const link = { message: "Sign in", url: "https://id.example/" };
  const [a, b] = [await raise(desk, "a", { asker, form }), await raise(desk, "b", { asker, link })];

  await desk.restart();

  const seen = [await getItem(desk.db, a ?? "", owner), await getItem(desk.db, b ?? "", owner)];
  assert.deepEqual([seen[0]?.asker, seen[0]?.form], [asker, form]);
  assert.deepEqual([seen[1]?.asker, seen[1]?.link], [asker, link]);
  assert.deepEqual(desk.state.items.get(a ?? "")?.question?.form, form);
});
