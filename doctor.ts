/**
 * `deno task doctor`: looks at everything that Callboard needs, one line a check, and says how to put right what is not. Starts nothing,
 * changes nothing, and prints no secret. Exits with 1 when something that is needed is broken. Proven by `doctor_test.ts`.
 */
import { checkDatabase } from "./composition/doctor/database.ts";
import { type Finding, findingsOf } from "./composition/doctor/finding.ts";
import { checkDataFolder, checkDeno, checkPort, checkSandbox } from "./composition/doctor/machine.ts";
import { checkModel } from "./composition/doctor/model.ts";
import { checkZulip } from "./composition/doctor/zulip.ts";
import { freeBytes } from "./composition/watch/free_space.ts";
import { secretsOf, withoutSecrets } from "./composition/secrets.ts";
import { type ConfigSources, readConfig } from "./config.ts";

if (import.meta.main) {
  const findings = await examine({ env: (name) => Deno.env.get(name), readText, cwd: Deno.cwd() });
  for (const finding of findings) console.log(lineOf(finding));
  Deno.exit(findings.some(({ level }) => level === "bad") ? 1 : 0);
}

/** Every finding, in the order in which they are best put right. */
export async function examine(sources: ConfigSources, now: () => number = Date.now): Promise<Finding[]> {
  const configured = readConfig(sources);
  const about = findingsOf("Configuration");
  if (!configured.ok) return [checkDeno(Deno.version.deno), about.bad(configured.error.message)];
  const config = configured.value;
  const findings = [
    checkDeno(Deno.version.deno),
    about.ok("complete"),
    await checkDataFolder(config.dataDir, freeBytes),
    await checkSandbox(config.timeZone),
    await checkPort(config.host, config.port),
    await checkDatabase(config.databaseUrl, config.databaseToken),
    ...await checkZulip(config.zulip, now),
    await checkModel(config),
  ];
  const secrets = secretsOf(config);
  return findings.map((finding) => ({ ...finding, text: withoutSecrets(finding.text, secrets) }));
}

/** A finding on its line; the problems of a configuration have one each. */
export function lineOf({ level, subject, text }: Finding): string {
  const mark = { ok: "ok  ", warn: "note", bad: "BAD " }[level];
  return `${mark}  ${subject.padEnd(14)}${text.includes("\n") || text.startsWith("- ") ? `\n${text}` : text}`;
}

function readText(file: string): string | undefined {
  try {
    return Deno.readTextFileSync(file);
  } catch {
    return undefined;
  }
}
