/**
 * A message that was given up is listed, tried again or discarded by the owner, once; and the pages for operators show what the supervisor
 * does.
 */
import assert from "node:assert/strict";
import type { DeadLetterList, DeadLetterView } from "../../edge/api.ts";
import { inspect } from "../../inspect.ts";
import { newId } from "../../lib/ids.ts";
import { sql } from "../../store/db.ts";
import { insertMessage } from "../../store/mail.ts";
import { openDb } from "../../store/open.ts";
import { World } from "./world.ts";

/** Runs statements beside the supervisor, as another edge could. */
async function write(world: World, ...statements: ReturnType<typeof sql>[]): Promise<void> {
  const db = await openDb({ url: `file:${world.folder}/data/callboard.db` });
  await db.batch(statements);
  await db.close();
}

/** What a conversation cannot read: an older or broken writer's message. */
function broken(conversation: string) {
  const id = newId();
  const payload = { text: "", author: { kind: "web", id: "1", name: "Ada" }, source: { kind: "web" } };
  const to = `conversation/${conversation}`;
  const message = { id, to, from: "edge", type: "conversation.message", lane: "normal", payload } as const;
  return { id, payload, statements: insertMessage({ ...message, at: Date.now() }) };
}

async function letter(world: World, id: string): Promise<DeadLetterView | undefined> {
  const { deadLetters } = await world.get<DeadLetterList>("/api/dead-letters");
  return deadLetters.find((seen) => seen.id === id);
}

Deno.test("a message that was given up is tried again once it can be read, and discarded when it is not wanted", async () => {
  await using world = await World.open();
  const [one, other] = [broken("later"), broken("never")];
  await write(world, ...one.statements, ...other.statements);
  const found = await world.until(async () => await letter(world, other.id) && await letter(world, one.id));
  // The cure: here the message is put right, else a newer version would read it.
  const cured = JSON.stringify({ ...one.payload, text: "are you there" });
  await write(world, sql("UPDATE messages SET payload = ? WHERE id = ?", cured, one.id));

  const retried = await world.send(`/api/dead-letters/${one.id}/retry`, {});
  const discarded = await world.send(`/api/dead-letters/${other.id}/discard`, {});
  const again = await world.send(`/api/dead-letters/${one.id}/retry`, {});

  assert.deepEqual([found.reason, found.type, found.settled], [
    "bad_request",
    "conversation.message",
    undefined,
  ]);
  assert.equal(retried.status, 200, await retried.text());
  assert.equal(discarded.status, 200, await discarded.text());
  assert.equal(again.status, 409, await again.text());
  await world.until(async () => {
    const { events } = await world.get<{ events: { type: string; payload: unknown }[] }>(
      "/api/conversations/later/events",
    );
    return JSON.stringify(events).includes("echo: are you there");
  });
  assert.equal((await letter(world, one.id))?.settled?.how, "retried");
  assert.equal((await letter(world, other.id))?.settled?.how, "discarded");
  const { deadLetters } = await world.get<DeadLetterList>("/api/dead-letters?state=open");
  assert.deepEqual(deadLetters, []);
});

Deno.test("operators see memory, the message in hand, the runtime's metrics, and readiness in words", async () => {
  await using world = await World.open();
  let hang = true;
  world.model.script(() => {
    const first = hang;
    hang = false;
    return first ? [{ do: "hang" }] : [];
  });
  world.zulip.say("King Hamlet", "general", "t", "@**Callboard** think long");
  await world.model.whenHanging();

  const models = await world.until(async () => {
    const actor = (await world.actors()).find(({ ref }) => ref === "models");
    return actor?.pssMb !== undefined && actor.heapMb !== undefined && actor.currentMessage && actor;
  });
  const ready = await world.until(async () => {
    const response = await fetch(`${world.supervisor.url}/readyz`);
    return response.ok ? await response.json() : void await response.body?.cancel();
  });
  const metrics = await (await fetch(`${world.supervisor.url}/metrics`)).text();
  const db = await openDb({ url: `file:${world.folder}/data/callboard.db` });
  const report = await inspect(db, "models", Date.now());
  await db.close();
  world.model.release();

  assert.match(
    report.ok ? report.value : report.error.message,
    /live; the supervisor is at work[^]*started {2}model\.stream/,
  );
  assert.ok((models.pssMb ?? 0) > (models.heapMb ?? Infinity));
  assert.equal(models.currentMessage?.type, "model.stream");
  assert.deepEqual(ready, { ready: true, reasons: [] });
  assert.match(metrics, /^callboard_mailbox_messages\{kind="models",lane="normal"\} 1$/m);
  assert.match(metrics, /^callboard_commit_seconds_bucket\{le="\+Inf"\} [1-9]/m);
});
