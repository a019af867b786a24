/** Whether Zulip can be reached, accepts the bot, and agrees with this machine about the time. Proven by `doctor_test.ts`. */
import type { ZulipAccount } from "../../config.ts";
import { createZulipClient } from "../../zulip/client.ts";
import { ZulipError } from "../../zulip/errors.ts";
import { type Finding, findingsOf, wordsOf } from "./finding.ts";

const TIMEOUT_MS = 10_000;
const MOST_SKEW_MS = 30_000;

/** Findings about the server, the account and the clock. */
export async function checkZulip(account: ZulipAccount | undefined, now: () => number): Promise<Finding[]> {
  const { ok, warn, bad } = findingsOf("Zulip");
  if (!account) return [warn("not configured: conversations are only in the web inbox (ZULIP_SITE, …)")];
  let skewMs: number | undefined;
  const timed = async (url: string, init: RequestInit) => {
    const response = await fetch(url, init);
    const date = Date.parse(response.headers.get("date") ?? "");
    if (!Number.isNaN(date)) skewMs = now() - date;
    return response;
  };
  const client = createZulipClient({ ...account, fetch: timed, timeoutMs: TIMEOUT_MS });
  try {
    const server = await client.serverSettings();
    const me = await client.me();
    const who = `${me.fullName} on ${account.site}, Zulip ${server.zulipVersion}`;
    const told = me.isBot
      ? ok(who)
      : warn(`${who}; this is a person's account: make a bot (type "Generic") and use its key`);
    return [told, ...clockFinding(skewMs)];
  } catch (error) {
    return [bad(sentence(error, account)), ...clockFinding(skewMs)];
  } finally {
    client.close();
  }
}

function sentence(error: unknown, { site }: ZulipAccount): string {
  if (!(error instanceof ZulipError)) return `${site}: ${wordsOf(error)}`;
  switch (error.failure.kind) {
    case "unauthorized":
      return `${site} does not accept this account. Check ZULIP_EMAIL and ZULIP_API_KEY, and that the bot is active.`;
    case "network":
    case "timeout":
      return `${site} cannot be reached. Check ZULIP_SITE, the network, and that it is the server's own address.`;
    case "bad_response":
      return `${site} does not answer like a Zulip server (${error.failure.reason}). Check ZULIP_SITE.`;
    default:
      return `${site}: ${error.message}`;
  }
}

function clockFinding(skewMs: number | undefined): Finding[] {
  const { ok, warn } = findingsOf("Clock");
  if (skewMs === undefined) return [];
  const seconds = Math.round(Math.abs(skewMs) / 1_000);
  if (Math.abs(skewMs) <= MOST_SKEW_MS) return [ok(`within ${seconds} s of Zulip's`)];
  const side = skewMs > 0 ? "ahead of" : "behind";
  return [
    warn(
      `${seconds} s ${side} Zulip's: schedules and expiry would be off. Switch on NTP (timedatectl set-ntp true).`,
    ),
  ];
}
