/**
 * Random faults against the committer: whatever is lost, late, busy or taken over, each answer is true. fast-check prints the seed and
 * shrinks to the shortest story that breaks the promise.
 */
import assert from "node:assert/strict";
import fc from "fast-check";
import { FakeClock } from "../tests/doubles/fake_clock.ts";
import { type DbFault, FaultyDb } from "../tests/doubles/faulty_db.ts";
import { type CommitMember, type CommitResult, Committer } from "./committer.ts";
import { type Db, guard, sql } from "./db.ts";
import { acquireLease } from "./lease.ts";
import { bootstrap } from "./migrate.ts";
import { openDb } from "./open.ts";

const fault = fc.constantFrom<DbFault>("none", "none", "lose_request", "lose_answer", "busy", "late");

/** What happens, step by step: members come in groups, some with a guard that never holds or not always; the clock moves;
 * late calls arrive; the flag that a guard reads changes; the lease may be taken. */
const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      type: fc.constant("commit" as const),
      guard: fc.constantFrom("none", "never", "flag"),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ type: fc.constant("advance" as const), ms: fc.integer({ min: 1, max: 3_000 }) }),
  },
  { weight: 2, arbitrary: fc.record({ type: fc.constant("arrive" as const) }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant("toggle" as const) }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("take_over" as const) }) },
);

const story = fc.record({
  steps: fc.array(step, { minLength: 1, maxLength: 25 }),
  batchFaults: fc.array(fault, { maxLength: 25 }),
  queryFaults: fc.array(fault, { maxLength: 25 }),
});
type Story = typeof story extends fc.Arbitrary<infer T> ? T : never;

/** Lets the story happen; gives every answer by the key that the member wrote. */
async function happen(
  real: Db,
  { steps, batchFaults, queryFaults }: Story,
): Promise<Map<string, CommitResult>> {
  await real.batch(
    ["settings WHERE key LIKE 't/%'", "commits", "leases"].map((rest) => sql(`DELETE FROM ${rest}`)),
  );
  const takeLease = async (holder: string) => {
    await real.batch([sql("UPDATE leases SET expires_at = 1")]);
    const acquired = await acquireLease(real, { name: "supervisor", holder, ttlMs: 60_000 });
    return acquired.ok ? acquired.lease : assert.fail("the lease was expired");
  };
  const db = new FaultyDb(real);
  const clock = new FakeClock();
  let ids = 0;
  let losses = 0;
  const newCommitId = () => `c${++ids}`;
  const committer = new Committer(db, { clock, random: () => 0.5, newCommitId, onLost: () => losses++ });
  committer.setFence(await takeLease("a"));
  db.batchFaults.push(...batchFaults);
  db.queryFaults.push(...queryFaults);

  const answers = new Map<string, CommitResult>();
  const commits: Promise<void>[] = [];
  for (const [index, next] of steps.entries()) {
    if (next.type === "commit") {
      const member = memberOf(`t/${index}`, next.guard);
      commits.push(committer.commit(member).then((result) => void answers.set(member.id, result)));
    } else if (next.type === "advance") await clock.advance(next.ms);
    else if (next.type === "arrive") await db.arrive();
    else if (next.type === "toggle") {
      await real.batch([sql("UPDATE settings SET at = 1 - at WHERE key = 'flag'")]);
    } else await takeLease(`b${index}`);
  }
  for (let turn = 0; answers.size < commits.length && turn < 2_000; turn++) await clock.advance(100);
  await Promise.all(commits);
  await db.arrive();
  await committer.close();
  assert(losses <= 1, `told ${losses} losses`);
  return answers;
}

function memberOf(key: string, kind: string): CommitMember {
  const write = sql("INSERT INTO settings (key, value, at) VALUES (?, 'x', 0)", key);
  const condition = kind === "never" ? "0" : "(SELECT at FROM settings WHERE key = 'flag') = 1";
  return { id: key, statements: [write, ...(kind === "none" ? [] : guard(condition))] };
}

Deno.test("every answer of the committer is true, whatever fails", async () => {
  const real = await openDb({ url: ":memory:" });
  await bootstrap(real);
  const isTrue = async (told: Story) => {
    const answers = await happen(real, told);
    const rows = await real.query(sql("SELECT key FROM settings WHERE key LIKE 't/%'"));
    const applied = new Set(rows.rows.map((row) => row[0]));
    for (const [key, result] of answers) {
      const answer = result.ok ? "ok" : result.error.code;
      if (answer !== "unknown_outcome") {
        assert.equal(applied.has(key), result.ok, `${key} was answered ${answer}`);
      }
    }
  };
  try {
    await fc.assert(fc.asyncProperty(story, isTrue), { numRuns: 200 });
  } finally {
    await real.close();
  }
});
