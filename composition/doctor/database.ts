/** Whether the database can be reached and fits this build, and who holds it. Creates nothing. Proven by `doctor_test.ts`. */
import { schemaRange, schemaVersion } from "../../store/migrate.ts";
import { isLocal, openDb } from "../../store/open.ts";
import { leaseState } from "../../store/queries/health.ts";
import { type Finding, findingsOf, wordsOf } from "./finding.ts";

const TIMEOUT_MS = 5_000;

/** One finding. */
export async function checkDatabase(url: string, authToken: string | undefined): Promise<Finding> {
  const { ok, bad } = findingsOf("Database");
  // A URL may hold a token.
  const shown = isLocal(url) ? url : new URL(url).host;
  if (isLocal(url) && !await Deno.stat(url.replace(/^file:/, "")).then(() => true, () => false)) {
    return ok(`${shown} (will be made)`);
  }
  try {
    const db = await openDb({ url, authToken, timeoutMs: TIMEOUT_MS });
    try {
      const version = await schemaVersion(db);
      if (version === 0) return ok(`${shown} is empty (will be made)`);
      if (version > schemaRange.max) {
        return bad(
          `${shown} has schema ${version}, this build knows ${schemaRange.max}: upgrade this program`,
        );
      }
      const upgrade = version < schemaRange.max ? ` (will be upgraded to ${schemaRange.max})` : "";
      const { fresh, holder } = await leaseState(db);
      const held = fresh ? `held by a running supervisor (${holder})` : "no supervisor is at work";
      return ok(`${shown}, schema ${version}${upgrade}; ${held}`);
    } finally {
      await db.close();
    }
  } catch (error) {
    return bad(
      `${shown} cannot be used: ${wordsOf(error)}. Check LIBSQL_URL, LIBSQL_AUTH_TOKEN and the network.`,
    );
  }
}
