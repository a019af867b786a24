/** The secrets of a configuration, and how a text is cleaned of them. Proven by `composition_test.ts`. */
import type { Config } from "../config.ts";

/** Every value that must not be printed. */
export function secretsOf(config: Config): string[] {
  const {
    databaseToken,
    ownerToken,
    doorbellSecret,
    zulipWebhookToken,
    vapidKey,
    zulip,
    anthropic,
    openai,
    file,
  } = config;
  const servers = file.mcpServers.flatMap((server) =>
    server.kind === "http" ? Object.values(server.headers) : secretVariables(server.env)
  );
  return [
    databaseToken,
    ownerToken,
    doorbellSecret,
    zulipWebhookToken,
    vapidKey,
    zulip?.apiKey,
    anthropic.apiKey,
    openai.apiKey,
    // `Bearer x` is a secret both with and without its first word.
    ...servers.flatMap((value) => [value, value.split(" ").at(-1)]),
  ].filter((secret) => secret !== undefined);
}

/** Variables whose names say that they are secret; others may hold words that logs need. */
function secretVariables(env: Readonly<Record<string, string>>): string[] {
  return Object.entries(env).filter(([name]) => /key|token|secret|password|auth/i.test(name)).map((
    [, value],
  ) => value);
}

/** The text without them. Values shorter than eight characters are left: they would blank out words. */
export function withoutSecrets(text: string, secrets: readonly string[]): string {
  return secrets.filter((secret) => secret.length >= 8)
    .reduce((clean, secret) => clean.replaceAll(secret, "[secret]"), text);
}
