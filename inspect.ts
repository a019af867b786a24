/**
 * `deno task inspect <ref>`: what the database knows of one actor: its row, its mailbox, its last events and ends, its dead letters. Works
 * whether a supervisor is at work or not, and changes nothing. What others wrote is shown with every unseen character made visible.
 * Proven by `inspect_test.ts`.
 */
import { kindOf } from "./actors/protocol.ts";
import { actorKinds } from "./actors/protocol/define.ts";
import { readConfig } from "./config.ts";
import { printableLine } from "./lib/printable.ts";
import { fail, ok, type Result } from "./lib/result.ts";
import { type Db, DbError } from "./store/db.ts";
import { checkSchema } from "./store/migrate.ts";
import { isLocal, openDb } from "./store/open.ts";
import { type ActorFacts, actorFacts, recentActors } from "./store/queries/inspect.ts";

const LIMIT = 20;
const MAX_TEXT = 160;

if (import.meta.main) Deno.exit(await main(Deno.args));

/** Prints the report; resolves with the exit code. */
async function main(args: readonly string[]): Promise<number> {
  const [ref] = args;
  if (args.length !== 1 || ref === undefined || ref.startsWith("-")) {
    console.error("Usage: deno task inspect <ref>, for example: deno task inspect approval");
    return 64;
  }
  const opened = await openConfigured();
  if (!opened.ok) {
    console.error(opened.error.message);
    return 78;
  }
  const db = opened.value;
  try {
    const report = await inspect(db, ref, Date.now());
    if (report.ok) console.log(report.value);
    else console.error(report.error.message);
    return report.ok ? 0 : 1;
  } finally {
    await db.close();
  }
}

async function openConfigured(): Promise<Result<Db>> {
  const readText = (file: string) => {
    try {
      return Deno.readTextFileSync(file);
    } catch {
      return undefined;
    }
  };
  const config = readConfig({ env: (name) => Deno.env.get(name), readText, cwd: Deno.cwd() });
  if (!config.ok) return config;
  const { databaseUrl: url, databaseToken: authToken } = config.value;
  // Opening would create it.
  if (isLocal(url) && !await exists(url.replace(/^file:/, ""))) {
    return fail("not_found", `There is no database at ${url}; is CALLBOARD_DATA set as for the supervisor?`);
  }
  try {
    return ok(await openDb({ url, authToken }));
  } catch (error) {
    if (!(error instanceof DbError)) throw error;
    return fail("unavailable", `The database cannot be opened: ${error.message}`);
  }
}

async function exists(path: string): Promise<boolean> {
  return await Deno.stat(path).then(() => true, () => false);
}

/** The report on one actor, or why there is none. Rejects with `DbError`. */
export async function inspect(db: Db, ref: string, now: number): Promise<Result<string>> {
  const schema = await checkSchema(db);
  if (!schema.ok) return schema;
  const shown = printableLine(ref);
  if (kindOf(ref) === undefined) {
    const kinds = actorKinds.filter((kind) => kind !== "conversation").join(", ");
    return fail("not_found", `"${shown}" names no actor. A ref is conversation/<id>, or one of: ${kinds}.`);
  }
  const facts = await actorFacts(db, ref, LIMIT);
  if (facts.actor || facts.mail.length + facts.events.length + facts.deadLetters.length > 0) {
    return ok(report(shown, facts, now));
  }
  const recent = (await recentActors(db, 10)).map((known) => `  ${printableLine(known)}`).join("\n");
  const others = recent === ""
    ? "No actor ever ran on this database."
    : `Those that changed last:\n${recent}`;
  return fail("not_found", `There is no actor ${shown}: it never ran and nobody wrote to it.\n${others}`);
}

function report(ref: string, facts: ActorFacts, now: number): string {
  const { actor, title, mail, events, downs, deadLetters } = facts;
  const time = (at: number) => new Date(at).toISOString();
  const age = (at: number) => `${Math.round((now - at) / 1_000)} s`;
  return [
    ref + (title === undefined ? "" : `  “${printableLine(title)}”`),
    `  ${stateOf(facts)}`,
    ...(actor ? [`  incarnation ${actor.incarnation}, ${actor.restarts} restarts`] : ["  it never ran"]),
    ...(actor?.down_reason ? [`  last end: ${actor.down_reason} at ${time(actor.down_at ?? 0)}`] : []),
    ...section(
      "Mailbox",
      mail,
      (row) =>
        `${row.lane === 0 ? "control" : "normal "}  ${
          row.state.padEnd(7)
        }  ${row.type} from ${row.from_ref}, ${
          row.not_before !== null && row.not_before > now ? `due ${time(row.not_before)}` : age(row.at)
        }${row.failures > 0 ? `, failed ${row.failures} ×` : ""}  (${row.id})`,
    ),
    ...section(
      "Last events",
      events,
      (row) => `${row.seq}  ${time(row.at)}  ${row.type}  ${short(row.payload)}`,
    ),
    ...section(
      "Last ends",
      downs,
      (row) =>
        `#${row.incarnation}  ${time(row.at)}  ${row.reason}${row.suspect === 1 ? " (its own fault)" : ""}  ${
          short(row.detail ?? "")
        }`,
    ),
    ...section(
      "Dead letters",
      deadLetters,
      (row) =>
        `${time(row.at)}  ${row.type}  ${row.reason}  ${row.settled ?? "open"}  ${
          short(row.detail ?? "")
        }  (${row.message_id})`,
    ),
  ].join("\n");
}

function stateOf({ actor, isOpen, supervisor }: ActorFacts): string {
  const holder = supervisor?.fresh === true
    ? `the supervisor is at work (${printableLine(supervisor.holder)})`
    : "no supervisor is at work";
  if (actor?.parked_reason) return `parked: ${short(actor.parked_reason)}; ${holder}`;
  if (!isOpen) return `asleep; ${holder}`;
  return supervisor?.fresh === true ? `live; ${holder}` : `not live; ${holder}`;
}

function section<Row>(name: string, rows: readonly Row[], line: (row: Row) => string): string[] {
  if (rows.length === 0) return [`${name}: none`];
  return [
    `${name}${rows.length === LIMIT ? ` (${LIMIT} of maybe more)` : ""}:`,
    ...rows.map((row) => `  ${line(row)}`),
  ];
}

function short(text: string): string {
  const line = printableLine(text.replaceAll(/\s+/g, " "));
  return line.length > MAX_TEXT ? `${line.slice(0, MAX_TEXT)}…` : line;
}
