/**
 * What the models gateway is told when it starts: where the providers are and their keys.
 *
 * The composition root fills it from the configuration; it is the only way for a key to reach a provider call.
 * Proved by `gateway_test.ts`.
 */

import * as z from "zod";

const Endpoint = z.object({ apiKey: z.string().min(1).optional(), baseUrl: z.url().optional() });

/** The `config` of the models gateway's start message. */
export const ModelsConfig = z.object({
  /** `ANTHROPIC_API_KEY`, `ANTHROPIC_BASE_URL`. */
  anthropic: Endpoint.default({}),
  /** `OPENAI_API_KEY`, `OPENAI_BASE_URL`. `api` is guessed from the base URL when left out. */
  openai: Endpoint.extend({ api: z.enum(["responses", "completions"]).optional() }).default({}),
  ollama: Endpoint.default({}),
  /** A stream without progress for this long has failed. */
  idleLimitMs: z.int().positive().default(300_000),
  /** Pause between the words of the rehearsal model. */
  rehearsalPaceMs: z.int().nonnegative().default(12),
});
export type ModelsConfig = z.infer<typeof ModelsConfig>;

/** The hosts that the gateway must be allowed to reach, as `host` or `host:port`, for `--allow-net`. */
export function modelHosts({ anthropic, openai, ollama }: ModelsConfig): string[] {
  const urls = [
    anthropic.baseUrl ?? (anthropic.apiKey && "https://api.anthropic.com"),
    openai.baseUrl ?? (openai.apiKey && "https://api.openai.com"),
    ollama.baseUrl ?? "http://127.0.0.1:11434",
  ];
  return [...new Set(urls.flatMap((url) => url ? [new URL(url).host] : []))];
}
