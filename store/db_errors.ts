/**
 * Turns what `libsql` and `@libsql/client/web` throw, into `DbError`. Pure; reads the errors by shape, so that the edge need not
 * load the native client. Only SQLite's own sentence is passed on: a transport's message may hold the URL with its token.
 * Proven by `tests/contract/db_suite.ts`.
 */
import { DbError, type DbErrorKind } from "./db.ts";

/** Codes of the HTTP client that mean "the answer did not arrive". */
const TRANSPORT_CODES = new Set([
  "HRANA_CLOSED_ERROR",
  "HRANA_PROTO_ERROR",
  "HRANA_WEBSOCKET_ERROR",
  "SERVER_ERROR",
  "CLIENT_CLOSED",
]);

/** Any failure of a database call as a `DbError`; one that is already one is returned as it is. */
export function toDbError(error: unknown): DbError {
  if (error instanceof DbError) return error;
  const code = text(error, "code");
  const message = text(error, "message");
  const statement = statementIndex(error);
  if (code.startsWith("SQLITE_")) {
    const sentence = message.replace(/^(SQLITE_\w+: )+/, "");
    return new DbError(kindOfSqlite(code), sentence, constraintOf(sentence), { cause: error, statement });
  }
  if (error instanceof RangeError) {
    return new DbError(
      "other",
      "An integer of this call does not fit: rows hold at most 2^53 - 1, arguments 64 bits",
      undefined,
      {
        cause: error,
        statement,
      },
    );
  }
  // Deno's own sentence names the missing right and the flag that grants it.
  if (nameOf(error) === "NotCapable") return new DbError("other", message, undefined, { cause: error });
  const kind = kindOfTransport(error, code);
  if (kind !== "other") return new DbError(kind, transportSentence(kind, code), undefined, { statement });
  const refused = `The database refused the call (${code || nameOf(error)}); check its URL and its token`;
  return new DbError("other", refused, undefined, { statement });
}

/** SQLite's base code as our kind. */
function kindOfSqlite(code: string): DbErrorKind {
  if (code.startsWith("SQLITE_BUSY") || code.startsWith("SQLITE_LOCKED")) return "busy";
  if (code.startsWith("SQLITE_CONSTRAINT")) return "constraint";
  if (code.startsWith("SQLITE_FULL")) return "full";
  return "other";
}

/** `guard.ok` from "NOT NULL constraint failed: guard.ok"; the expression for CHECK; `foreign key` for a foreign key. */
function constraintOf(sentence: string): string | undefined {
  const found = /(?:NOT NULL|UNIQUE|CHECK|PRIMARY KEY) constraint failed: (.+?)(?: \(\d+\))?$/.exec(sentence);
  if (found) return found[1];
  return /FOREIGN KEY constraint failed/.test(sentence) ? "foreign key" : undefined;
}

function kindOfTransport(error: unknown, code: string): DbErrorKind {
  const names = [nameOf(error), nameOf(causeOf(error)), nameOf(causeOf(causeOf(error)))];
  if (names.includes("TimeoutError")) return "timeout";
  // Every failed fetch is a TypeError; it reaches us bare or as the cause of the client's own error.
  if (TRANSPORT_CODES.has(code) || names.includes("TypeError") || names.includes("AbortError")) {
    return "connection";
  }
  return "other";
}

function transportSentence(kind: DbErrorKind, code: string): string {
  if (kind === "timeout") return "The database did not answer in time";
  return `The connection to the database failed${
    code ? ` (${code})` : ""
  }; check that it is up and that the token is valid`;
}

function statementIndex(error: unknown): number | undefined {
  const index = field(error, "statementIndex");
  return typeof index === "number" ? index : undefined;
}

function text(error: unknown, name: string): string {
  const value = field(error, name);
  return typeof value === "string" ? value : "";
}

function nameOf(error: unknown): string {
  return text(error, "name");
}

function causeOf(error: unknown): unknown {
  return field(error, "cause");
}

function field(error: unknown, name: string): unknown {
  return typeof error === "object" && error !== null ? Reflect.get(error, name) : undefined;
}
