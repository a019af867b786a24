/** The secrets of a configuration, and how a text is cleaned of them. Proven by `doctor_test.ts` and `log_test.ts`. */
import type { Config } from "../config.ts";

/** Every value that must not be printed. */
export function secretsOf(config: Config): string[] {
  const { databaseToken, ownerToken, doorbellSecret, zulipWebhookToken, zulip, anthropic, openai } = config;
  return [
    databaseToken,
    ownerToken,
    doorbellSecret,
    zulipWebhookToken,
    zulip?.apiKey,
    anthropic.apiKey,
    openai.apiKey,
  ]
    .filter((secret) => secret !== undefined);
}

/** The text without them. Values shorter than eight characters are left: they would blank out words. */
export function withoutSecrets(text: string, secrets: readonly string[]): string {
  return secrets.filter((secret) => secret.length >= 8)
    .reduce((clean, secret) => clean.replaceAll(secret, "[secret]"), text);
}
