/**
 * Today's code on the database of an older version, as a kill left it: nothing that was accepted is lost, and what waited can be decided to
 * its end. The fixture is `tests/fixtures/schema_v1.sql`; it stays as it is, whatever the schema becomes.
 */
import assert from "node:assert/strict";
import { sql } from "../../store/db.ts";
import { schemaRange } from "../../store/migrate.ts";
import { openDb } from "../../store/open.ts";
import { World } from "./world.ts";

/** Makes the database of the fixture, as if it had been left a moment ago: alarms that are weeks overdue would ring. */
async function restore(dataFolder: string): Promise<void> {
  const text = await Deno.readTextFile(new URL("../fixtures/schema_v1.sql", import.meta.url));
  const leftAt = Number(/^-- at (\d{13})$/m.exec(text)?.[1]);
  const later = Date.now() - leftAt;
  const statements = text.replaceAll(/\b1[0-9]{12}\b/g, (time) => String(Number(time) + later)).split("\n")
    .filter((line) => line !== "" && !line.startsWith("--"));
  await Deno.mkdir(dataFolder, { recursive: true });
  const db = await openDb({ url: `file:${dataFolder}/callboard.db` });
  await db.batch(statements.map((statement) => sql(statement.replace(/;$/, ""))));
  await db.close();
}

async function eventsOf(world: World, conversation: string): Promise<string> {
  return JSON.stringify(await world.get<unknown>(`/api/conversations/${conversation}/events`));
}

Deno.test("an item that waited in an older version's database is decided to its end, and a message left there is answered", async () => {
  await using world = await World.open({ prepare: restore });

  const item = await world.waiting();
  const response = await world.decide(item, "allow_once");
  assert.equal(response.status, 200, await response.text());
  await world.until(async () => {
    const { status } = await world.get<{ status: string }>(`/api/conversations/${item.conversation.id}`);
    return status === "idle";
  });
  const { conversations } = await world.get<{ conversations: { id: string; title: string }[] }>(
    "/api/conversations",
  );
  const other = conversations.find(({ title }) => title === "good morning");
  await world.until(async () => /echo: are you still there/.test(await eventsOf(world, other?.id ?? "")));

  assert.equal(item.tool, "exec_command");
  assert.match(await eventsOf(world, item.conversation.id), /The tool answered[^"]*the-old-disk-is-fine/);
  assert.equal((await world.get<{ state: string }>(`/api/inbox/${item.id}`)).state, "applied");
  const db = await openDb({ url: `file:${world.folder}/data/callboard.db` });
  const [version, lost, dead] = await db.queryAll([
    sql("SELECT value FROM settings WHERE key = 'schema_version'"),
    sql("SELECT count(*) FROM downs WHERE incarnation = 1 AND reason = 'lost'"),
    sql("SELECT count(*) FROM dead_letters"),
  ]);
  await db.close();
  assert.deepEqual(version?.rows, [[String(schemaRange.max)]]);
  assert.deepEqual(lost?.rows, [[6]], "each incarnation that was killed has its one end");
  assert.deepEqual(dead?.rows, [[0]]);
});
