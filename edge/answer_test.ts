/** Proves what the edge takes as an answer to a form, a page and a question, and that a mark is one's own and is told to approval. */
import assert from "node:assert/strict";
import { newSealKey } from "../lib/sealed.ts";
import { type Bench, withBench } from "../tests/doubles/edge_bench.ts";

const fields = [
  { name: "user", label: "User", type: "string", required: true, secret: false },
  { name: "age", label: "Age", type: "integer", required: false, secret: false, max: 150 },
];

async function asked(bench: Bench, question: Record<string, unknown>): Promise<void> {
  await bench.conversation("c1");
  await bench.item("i1", "c1");
  await bench.run("UPDATE pending_items SET kind = 'elicitation', tool = NULL, described = NULL");
  await bench.run(
    "UPDATE pending_items SET question = ?",
    JSON.stringify({ text: "?", suggestions: [], ...question }),
  );
}

const answer = (more: Record<string, unknown>) => ({ version: 1, decision: "answer", ...more });

async function stored(bench: Bench): Promise<{ answer?: string }> {
  const [row] = await bench.rows<{ decision: string }>("SELECT decision FROM pending_items");
  return JSON.parse(row?.decision ?? "{}");
}

Deno.test("a form's content is checked field by field, and stored as one text of the right types", () =>
  withBench(async (bench) => {
    await asked(bench, { form: { message: "?", fields } });
    const owner = await bench.owner();
    const put = (content: unknown) => owner.post("/api/inbox/i1/decision", answer({ content }));

    for (
      const [content, why] of [
        [{}, /"User" is missing/],
        [{ user: "  " }, /"User" is missing/],
        [{ user: "ada", age: 200 }, /"Age" must be at most 150/],
        [{ user: "ada", shoe: 38 }, /does not have/],
      ] as const
    ) {
      const refused = await put(content);
      assert.equal(refused.status, 400);
      assert.match((await refused.json()).error.message, why);
    }
    assert.equal((await put({ user: "ada", age: "36" })).status, 200);

    assert.equal((await stored(bench)).answer, '{"user":"ada","age":36}');
  }));

Deno.test("a form takes an answer in words too, checked the same", () =>
  withBench(async (bench) => {
    await asked(bench, { form: { message: "?", fields } });
    const owner = await bench.owner();

    const wrong = await owner.post("/api/inbox/i1/decision", answer({ answer: "user: ada\nage: old" }));
    const right = await owner.post("/api/inbox/i1/decision", answer({ answer: "user: ada\nage: 36" }));

    assert.deepEqual([wrong.status, right.status], [400, 200]);
    assert.equal((await stored(bench)).answer, '{"user":"ada","age":36}');
  }));

Deno.test("a form with a secret is checked and then sealed whole", () =>
  withBench(async (bench) => {
    const key = await newSealKey();
    const secret = { name: "password", label: "Password", type: "string", required: true, secret: true };
    await asked(bench, { form: { message: "?", fields: [...fields, secret] }, sealTo: key.sealTo });
    const owner = await bench.owner();

    const wrong = await owner.post("/api/inbox/i1/decision", answer({ content: { password: "canary" } }));
    const content = { user: "ada", password: "canary" };
    const right = await owner.post("/api/inbox/i1/decision", answer({ content }));

    assert.deepEqual([wrong.status, right.status], [400, 200]);
    assert.ok(!(await wrong.text()).includes("canary") && !(await right.text()).includes("canary"));
    const everything = JSON.stringify([
      await bench.rows("SELECT * FROM pending_items"),
      await bench.rows("SELECT * FROM messages"),
    ]);
    assert.ok(!everything.includes("canary"));
    assert.deepEqual(JSON.parse(await key.open((await stored(bench)).answer ?? "") ?? ""), content);
  }));

Deno.test("opening a page needs no words, and whoever says no leaves none behind", () =>
  withBench(async (bench) => {
    await asked(bench, { link: { message: "?", url: "https://id.example/" } });
    const owner = await bench.owner();

    const item = await (await owner.get("/api/inbox/i1")).json();
    const opened = await owner.post("/api/inbox/i1/decision", answer({}));

    assert.deepEqual(item.link, { message: "?", url: "https://id.example/" });
    assert.equal(opened.status, 200);
    assert.equal((await stored(bench)).answer, "opened");
  }));

Deno.test("an answer of blanks is none", () =>
  withBench(async (bench) => {
    await asked(bench, {});
    const owner = await bench.owner();

    const blank = await owner.post("/api/inbox/i1/decision", answer({ answer: " \n" }));
    const form = await owner.post("/api/inbox/i1/decision", answer({ content: {} }));

    assert.deepEqual([blank.status, form.status], [400, 400]);
  }));

Deno.test("what one person puts off stays in everybody else's inbox, and approval hears of it", () =>
  withBench(async (bench) => {
    await bench.conversation("c1");
    await bench.item("i1", "c1");
    const [owner, approver] = [await bench.owner(), await bench.person("approver")];
    const until = bench.clock.now() + 3_600_000;

    const marked = await (await approver.post("/api/inbox/i1/later", { until })).json();

    const seen = async (of: typeof owner) =>
      (await (await of.get("/api/inbox?state=waiting")).json()).items[0].laterUntil;
    assert.equal(marked.laterUntil, until);
    assert.deepEqual([await seen(owner), await seen(approver)], [undefined, until]);
    assert.equal((await (await owner.get("/api/inbox/i1")).json()).laterUntil, undefined);
    const [message] = await bench.rows<{ payload: string; type: string; lane: number }>(
      "SELECT * FROM messages",
    );
    const { itemId, marked: mark, by } = JSON.parse(message?.payload ?? "");
    assert.deepEqual([message?.type, itemId, mark], ["item.marked", "i1", { mark: "later", until }]);
    assert.equal(by.role, "approver");
    assert.deepEqual(bench.rung, ["approval"]);
  }));
