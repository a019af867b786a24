/**
 * A child process of the store's tests: takes the write lock of the SQLite file named by the first argument, says `locked`, and gives the
 * lock back when a line arrives on its stdin. A process of its own, because two SQLite libraries in one process do not see each other's
 * locks.
 */
import { DatabaseSync } from "node:sqlite";

const db = new DatabaseSync(Deno.args[0] ?? "", { timeout: 2_000 });
db.exec("BEGIN IMMEDIATE");
await Deno.stdout.write(new TextEncoder().encode("locked\n"));
await Deno.stdin.read(new Uint8Array(16));
db.exec("ROLLBACK");
db.close();
