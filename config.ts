/**
 * The configuration: environment variables (secrets and the common choices) and one optional `callboard.json`. Everything is checked before
 * anything starts, every problem is named at once, and no message holds a secret's value. Proven by `config_test.ts`.
 */
import * as z from "zod";
import { McpServer } from "./actors/toolbox/config.ts";
import { isLoopback, isPublicOrigin } from "./edge/origin.ts";
import { fail, ok, type Result } from "./lib/result.ts";

/** `callboard.json`. Unknown keys are refused: a typo must not silently change nothing. */
export const ConfigFile = z.strictObject({
  /** `provider/name`; the environment's `MODEL` wins. */
  model: z.string().regex(/^[^/\s]+\/\S+$/, "a model is named provider/name").optional(),
  /** IANA name; the default of schedules. */
  timeZone: z.string().refine(isTimeZone, "not an IANA time zone").optional(),
  mcpServers: z.array(McpServer).default([]),
  zulip: z.strictObject({
    /** Least time between two edits of one streamed answer, milliseconds. */
    editIntervalMs: z.int().min(50).max(60_000).optional(),
    /** Edits a minute for all answers together. */
    editsPerMinute: z.int().min(1).max(6_000).optional(),
    /** How long after an unanswered POST history counts as complete, milliseconds. */
    settleAfterMs: z.int().min(100).max(600_000).optional(),
    /** Zulip user ids that may decide by a reaction, or `*` for everyone whom the bot obeys. */
    approvers: z.union([z.literal("*"), z.array(z.int())], 'must be "*" or a list of Zulip user ids')
      .optional(),
    /** Whether cards that a reaction may decide get buttons too, in a message of their own. */
    buttons: z.boolean().optional(),
  }).default({}),
});
export type ConfigFile = z.infer<typeof ConfigFile>;

/** How to reach a Zulip realm as a bot. */
export interface ZulipAccount {
  readonly site: string;
  readonly email: string;
  readonly apiKey: string;
}

/** Everything that can be configured, resolved. */
export interface Config {
  readonly host: string;
  readonly port: number;
  /** Absolute. */
  readonly dataDir: string;
  readonly databaseUrl: string;
  readonly databaseToken: string | undefined;
  readonly publicUrl: string | undefined;
  readonly ownerToken: string | undefined;
  readonly doorbellSecret: string | undefined;
  readonly model: string;
  readonly timeZone: string;
  readonly maxLive: number | undefined;
  readonly idleMs: number;
  /** The private key for push messages, a JSON Web Key; without it one is kept in the data folder. */
  readonly vapidKey: string | undefined;
  /** One more push service, on loopback, for tests. */
  readonly pushTestOrigin: string | undefined;
  readonly zulip: ZulipAccount | undefined;
  readonly zulipWebhookToken: string | undefined;
  readonly zulipChannels: readonly string[];
  readonly zulipAllowedUserIds: readonly number[];
  readonly zulipDms: boolean;
  readonly anthropic: Endpoint;
  readonly openai: Endpoint;
  readonly file: ConfigFile;
}

interface Endpoint {
  readonly apiKey?: string;
  readonly baseUrl?: string;
}

/** Reads one variable; an empty one counts as unset. */
export type ReadEnv = (name: string) => string | undefined;

/** What the configuration is read from. */
export interface ConfigSources {
  readonly env: ReadEnv;
  /** Text of a file, or undefined when there is none. */
  readonly readText: (path: string) => string | undefined;
  readonly cwd: string;
}

/** Reads and checks everything. The failure's message has one line a problem, each saying what to do. */
export function readConfig({ env: rawEnv, readText, cwd }: ConfigSources): Result<Config> {
  const problems: string[] = [];
  const env: ReadEnv = (name) => rawEnv(name)?.trim() || undefined;
  const problem = (text: string) => void problems.push(text);
  const file = readFile(env, (path) => readText(absolute(path, cwd)), problem);
  const dataDir = absolute(env("CALLBOARD_DATA") ?? "./data", cwd);
  const zulip = readZulip(env, (path) => readText(absolute(path, cwd)), problem);
  const model = env("MODEL") ?? file.model ?? "callboard/rehearsal";
  if (!/^[^/\s]+\/\S+$/.test(model)) problem(`MODEL must be provider/name, for example openai/gpt-5`);
  const config: Config = {
    host: env("HOST") ?? "127.0.0.1",
    port: integer("PORT", env, 8787, { min: 0, max: 65_535 }, problem) ?? 8787,
    dataDir,
    databaseUrl: url("LIBSQL_URL", env, problem) ?? `file:${dataDir}/callboard.db`,
    databaseToken: env("LIBSQL_AUTH_TOKEN"),
    publicUrl: url("PUBLIC_URL", env, problem)?.replace(/\/$/, ""),
    ownerToken: env("OWNER_TOKEN"),
    doorbellSecret: env("DOORBELL_SECRET"),
    model,
    timeZone: file.timeZone ?? Intl.DateTimeFormat().resolvedOptions().timeZone,
    maxLive: integer("MAX_LIVE", env, undefined, { min: 1, max: 2_000 }, problem),
    idleMs: 1_000 * (integer("IDLE_SECONDS", env, 60, { min: 1, max: 86_400 }, problem) ?? 60),
    vapidKey: env("VAPID_KEY"),
    pushTestOrigin: env("PUSH_TEST_ORIGIN"),
    zulip,
    zulipWebhookToken: env("ZULIP_WEBHOOK_TOKEN"),
    zulipChannels: list(env("ZULIP_CHANNELS")),
    zulipAllowedUserIds: userIds(env, problem),
    zulipDms: boolean("ZULIP_DMS", env, problem),
    anthropic: endpoint("ANTHROPIC", env, problem),
    openai: endpoint("OPENAI", env, problem),
    file,
  };
  if (config.ownerToken !== undefined && config.ownerToken.length < 32) {
    problem("OWNER_TOKEN must have at least 32 characters; leave it out to sign in with the printed link");
  }
  if (!isLoopback(config.host) && !config.publicUrl?.startsWith("https://")) {
    problem(
      "HOST would serve plain http to other machines: put a TLS proxy in front and set PUBLIC_URL to its https address",
    );
  }
  if (config.publicUrl !== undefined && !isPublicOrigin(config.publicUrl)) {
    problem("PUBLIC_URL must be an https origin without a path, such as https://board.example.org");
  }
  if (config.pushTestOrigin !== undefined && !/^http:\/\/127\.0\.0\.1:\d{1,5}$/.test(config.pushTestOrigin)) {
    problem("PUSH_TEST_ORIGIN is for tests and must be http://127.0.0.1 with a port; leave it out");
  }
  const modelProblem = modelProblemOf(config);
  if (modelProblem !== undefined) problem(modelProblem);
  if (zulip && config.zulipChannels.length === 0 && !config.zulipDms) {
    problem(
      "ZULIP_CHANNELS is empty and ZULIP_DMS is off, so nobody could talk to the bot: name channels, or `*`",
    );
  }
  if (env("ZULIP_WEBHOOK_TOKEN") && !zulip) {
    problem(
      "ZULIP_WEBHOOK_TOKEN needs ZULIP_SITE, ZULIP_EMAIL and ZULIP_API_KEY too: answers are posted through them",
    );
  }
  return problems.length === 0
    ? ok(config)
    : fail("bad_request", problems.map((text) => `- ${text}`).join("\n"));
}

/** Why the chosen model cannot answer, as far as the configuration tells. */
function modelProblemOf({ model, anthropic, openai }: Config): string | undefined {
  const provider = model.split("/")[0];
  const needs = (name: string, endpoint: Endpoint) =>
    endpoint.apiKey || endpoint.baseUrl
      ? undefined
      : `MODEL ${model} needs ${name}_API_KEY (or ${name}_BASE_URL)`;
  switch (provider) {
    case "anthropic":
      return needs("ANTHROPIC", anthropic);
    case "openai":
      return needs("OPENAI", openai);
    case "callboard":
    case "ollama":
    case "openai-compatible":
      return undefined;
    default:
      return `MODEL ${model} names no provider that is known: anthropic, openai, openai-compatible, ollama or callboard`;
  }
}

type Problem = (text: string) => void;

/** `callboard.json` of the working directory, or the file that `CALLBOARD_CONFIG` names, which must then be there. */
function readFile(
  env: ReadEnv,
  readText: (path: string) => string | undefined,
  problem: Problem,
): ConfigFile {
  const empty = ConfigFile.parse({});
  const named = env("CALLBOARD_CONFIG");
  const path = named ?? "callboard.json";
  const text = readText(path);
  if (text === undefined) {
    if (named !== undefined) problem(`CALLBOARD_CONFIG names "${named}", which cannot be read`);
    return empty;
  }
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    // The parser's own words quote the text, which may be a secret.
    const [, line] = /line (\d+)/.exec(error instanceof SyntaxError ? error.message : "") ?? [];
    problem(
      `${path} is no JSON${
        line ? `: look at line ${line}` : ""
      } (comments and trailing commas are not allowed)`,
    );
    return empty;
  }
  const parsed = ConfigFile.safeParse(json);
  if (parsed.success) return parsed.data;
  for (const issue of parsed.error.issues) {
    problem(`${path}: ${issue.path.join(".") || "the file"}: ${issue.message}`);
  }
  return empty;
}

/** From the three variables, or from a zuliprc file named by `ZULIPRC`. */
function readZulip(
  env: ReadEnv,
  readText: (path: string) => string | undefined,
  problem: Problem,
): ZulipAccount | undefined {
  const path = env("ZULIPRC");
  const rc = path === undefined ? {} : readZuliprc(path, readText(path), problem);
  const site = url("ZULIP_SITE", env, problem) ?? env("ZULIP_SITE") ?? rc.site;
  const email = env("ZULIP_EMAIL") ?? rc.email;
  const apiKey = env("ZULIP_API_KEY") ?? rc.key;
  if (!site && !email && !apiKey) return undefined;
  // What was given and is wrong has been named above, so it is not missing.
  if (site && email && apiKey) return { site: site.replace(/\/$/, ""), email, apiKey };
  const missing = [!site && "ZULIP_SITE", !email && "ZULIP_EMAIL", !apiKey && "ZULIP_API_KEY"].filter(
    Boolean,
  );
  problem(`Zulip is half configured: ${missing.join(" and ")} missing (all three, or none)`);
  return undefined;
}

function readZuliprc(path: string, text: string | undefined, problem: Problem): Record<string, string> {
  if (text === undefined) {
    problem(`ZULIPRC names "${path}", which cannot be read`);
    return {};
  }
  const pairs = [...text.matchAll(/^\s*(email|key|site)\s*=\s*(\S+)\s*$/gm)];
  return Object.fromEntries(pairs.map(([, name = "", value = ""]) => [name, value]));
}

function endpoint(prefix: "ANTHROPIC" | "OPENAI", env: ReadEnv, problem: Problem): Endpoint {
  const apiKey = env(`${prefix}_API_KEY`);
  const baseUrl = url(`${prefix}_BASE_URL`, env, problem);
  return { ...(apiKey === undefined ? {} : { apiKey }), ...(baseUrl === undefined ? {} : { baseUrl }) };
}

function url(name: string, env: ReadEnv, problem: Problem): string | undefined {
  const value = env(name);
  if (value === undefined || URL.canParse(value)) return value;
  problem(`${name} is no URL`);
  return undefined;
}

function integer(
  name: string,
  env: ReadEnv,
  fallback: number | undefined,
  range: { readonly min: number; readonly max: number },
  problem: Problem,
): number | undefined {
  const value = env(name);
  if (value === undefined) return fallback;
  const number = Number(value);
  if (Number.isInteger(number) && number >= range.min && number <= range.max) return number;
  problem(`${name} must be a whole number from ${range.min} to ${range.max}`);
  return fallback;
}

function boolean(name: string, env: ReadEnv, problem: Problem): boolean {
  const value = env(name)?.toLowerCase();
  if (value === undefined || value === "false") return false;
  if (value === "true") return true;
  problem(`${name} must be true or false`);
  return false;
}

function userIds(env: ReadEnv, problem: Problem): number[] {
  const ids = list(env("ZULIP_ALLOWED_USER_IDS")).map(Number);
  if (ids.every((id) => Number.isInteger(id) && id > 0)) return ids;
  problem("ZULIP_ALLOWED_USER_IDS must be Zulip user ids separated by commas");
  return [];
}

function list(value: string | undefined): string[] {
  return (value ?? "").split(",").map((part) => part.trim()).filter((part) => part !== "");
}

function absolute(path: string, cwd: string): string {
  return path.startsWith("/") ? path : `${cwd}/${path.replace(/^\.\//, "")}`;
}

function isTimeZone(name: string): boolean {
  try {
    Intl.DateTimeFormat("en", { timeZone: name });
    return true;
  } catch {
    return false;
  }
}
