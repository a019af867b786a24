/**
 * A child process of the store's tests: opens the file named by the first argument as the supervisor does, commits numbered settings rows for
 * ever, several at a time, and prints each number only after its commit was answered. The test kills it and counts.
 */
import { sql } from "../../store/db.ts";
import { openStore } from "../../store/worker_db.ts";

const store = await openStore({ url: `file:${Deno.args[0] ?? ""}` });
const encoder = new TextEncoder();
for (let round = 0;; round++) {
  await Promise.all([0, 1, 2].map(async (lane) => {
    const number = round * 3 + lane;
    const row = sql("INSERT INTO settings (key, value, at) VALUES (?, 'x', 0)", `loop/${number}`);
    const result = await store.commit({ id: String(number), statements: [row] });
    if (result.ok) Deno.stdout.writeSync(encoder.encode(`${number}\n`));
  }));
}
