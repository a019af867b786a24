/** Proves the webhook: one message per Zulip message, committed before it is answered, and nothing for who has no token. */
import assert from "node:assert/strict";
import { DbError } from "../store/db.ts";
import { type Bench, WEBHOOK_TOKEN, withBench } from "../tests/doubles/edge_bench.ts";

function delivery(id: number, token: unknown = WEBHOOK_TOKEN): Record<string, unknown> {
  return {
    token,
    trigger: "mention",
    data: "@**Bot** hello",
    bot_email: "bot@example.org",
    something_new: { in: "a later version" },
    message: { id, type: "stream", stream_id: 5, subject: "topic", content: "@**Bot** hello", sender_id: 9 },
  };
}

async function deliver(bench: Bench, body: unknown, headers: Record<string, string> = {}): Promise<Response> {
  return await bench.app.request("/zulip/webhook", {
    method: "POST",
    headers: { "content-type": "application/json", "user-agent": "ZulipOutgoingWebhook/12.3", ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
}

Deno.test("four deliveries of one message are one durable message, each answered with what Zulip keeps quiet about", () =>
  withBench(async (bench) => {
    const answers = await Promise.all([1, 2, 3, 4].map(() => deliver(bench, delivery(112))));

    for (const answer of answers) {
      assert.equal(answer.status, 200);
      assert.deepEqual(await answer.json(), { response_not_required: true });
    }
    const messages = await bench.rows<{ to_ref: string; type: string; payload: string }>(
      "SELECT * FROM messages",
    );
    assert.equal(messages.length, 1);
    assert.equal(messages[0]?.to_ref, "zulip");
    assert.equal(messages[0]?.type, "zulip.received");
    const payload = JSON.parse(messages[0]?.payload ?? "");
    assert.deepEqual(payload, {
      realm: "https://zulip.example.org",
      messageId: 112,
      message: delivery(112).message,
    });
    assert.deepEqual(await bench.rows("SELECT deliveries FROM webhook_receipts"), [{ deliveries: 4 }]);
    assert.ok(bench.rung.includes("zulip"));
  }));

Deno.test("different messages are all kept, though the supervisor is away", () =>
  withBench(async (bench) => {
    for (let id = 1; id <= 20; id++) assert.equal((await deliver(bench, delivery(id))).status, 200);

    assert.equal((await bench.rows("SELECT 1 FROM messages WHERE state = 'queued'")).length, 20);
  }));

Deno.test("a wrong token is refused without a word, and leaves no row", () =>
  withBench(async (bench) => {
    for (const token of ["", "wrong", `${WEBHOOK_TOKEN}x`, WEBHOOK_TOKEN.slice(1)]) {
      const answer = await deliver(bench, delivery(1, token));
      assert.equal(answer.status, 403);
      assert.deepEqual(await answer.json(), { error: { code: "forbidden", message: "Refused" } });
    }
    for (const token of [undefined, null, 7, [WEBHOOK_TOKEN]]) {
      assert.equal((await deliver(bench, { ...delivery(1), token })).status, 400);
    }
    assert.equal((await bench.rows("SELECT 1 FROM messages")).length, 0);
    assert.equal((await bench.rows("SELECT 1 FROM webhook_receipts")).length, 0);
    assert.ok(!bench.logged.join().includes(WEBHOOK_TOKEN));
  }));

Deno.test("guesses run out, and the right token still gets in", () =>
  withBench(async (bench) => {
    const statuses = new Set<number>();
    for (let index = 0; index < 25; index++) {
      statuses.add((await deliver(bench, delivery(1, "guess"))).status);
    }

    assert.deepEqual([...statuses], [403, 429]);
    assert.equal((await deliver(bench, delivery(1))).status, 200);
  }));

Deno.test("what is no delivery is refused by its form", () =>
  withBench(async (bench) => {
    assert.equal((await deliver(bench, "not json")).status, 400);
    assert.equal((await deliver(bench, { token: WEBHOOK_TOKEN })).status, 400);
    assert.equal((await deliver(bench, { token: WEBHOOK_TOKEN, message: { id: "1" } })).status, 400);
    assert.equal((await deliver(bench, delivery(1), { "content-type": "text/plain" })).status, 415);
    assert.equal((await deliver(bench, { ...delivery(1), data: "x".repeat(600_000) })).status, 413);
    assert.equal((await bench.rows("SELECT 1 FROM messages")).length, 0);
  }));

Deno.test("a delivery that could not be committed is not acknowledged", () =>
  withBench(async (bench) => {
    await bench.run("DROP TABLE webhook_receipts");

    const answer = await deliver(bench, delivery(1));

    assert.ok(answer.status >= 500, String(answer.status));
    assert.equal((await bench.rows("SELECT 1 FROM messages")).length, 0);
  }));

Deno.test("a commit whose answer was lost is found again, not sent twice", () =>
  withBench(async (bench) => {
    const { db } = bench;
    const batch = db.batch.bind(db);
    let lost = 0;
    db.batch = async (statements) => {
      const rows = await batch(statements);
      if (lost++ === 0) throw new DbError("timeout", "the answer was lost");
      return rows;
    };

    const answer = await deliver(bench, delivery(1));

    assert.equal(answer.status, 200);
    assert.ok(lost >= 1);
    assert.deepEqual(await bench.rows("SELECT deliveries FROM webhook_receipts"), [{ deliveries: 1 }]);
  }));

Deno.test("without a token in the configuration there is no webhook", () =>
  withBench(async (bench) => {
    assert.equal((await deliver(bench, delivery(1, ""))).status, 404);
    assert.equal((await deliver(bench, delivery(1))).status, 404);
  }, { config: { zulipWebhookToken: undefined } }));
