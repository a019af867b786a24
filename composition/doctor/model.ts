/** Whether the configured model's provider can be reached and accepts the key. Asks for no answer, so it costs nothing. Proven by `doctor_test.ts`. */
import type { Config } from "../../config.ts";
import { type Finding, findingsOf, wordsOf } from "./finding.ts";

const TIMEOUT_MS = 10_000;

/** One finding. */
export async function checkModel(config: Pick<Config, "model" | "anthropic" | "openai">): Promise<Finding> {
  const { ok, warn, bad } = findingsOf("Model");
  const { model } = config;
  if (model === "callboard/rehearsal") {
    return warn(`${model}: a scripted stand-in. Set MODEL and a key for a real one.`);
  }
  const probe = probeFor(config);
  if (!probe) return warn(`${model}: this provider is not known here, so it is not checked`);
  if (probe.missing !== undefined) return bad(`${model} needs ${probe.missing}`);
  const host = new URL(probe.url).host;
  try {
    const response = await fetch(probe.url, {
      headers: probe.headers,
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    await response.body?.cancel();
    if (response.status === 401 || response.status === 403) {
      return bad(`${model}: ${host} refuses the key (${response.status}). Check ${probe.key}.`);
    }
    if (response.status >= 500) return warn(`${model}: ${host} answers with ${response.status}`);
    return ok(`${model}: ${host} answers`);
  } catch (error) {
    return bad(`${model}: ${host} cannot be reached: ${wordsOf(error)}. Check the base URL and the network.`);
  }
}

interface Probe {
  readonly url: string;
  readonly headers: Record<string, string>;
  /** The variable that holds the key. */
  readonly key: string;
  /** What must be configured first. */
  readonly missing?: string | undefined;
}

function probeFor(
  { model, anthropic, openai }: Pick<Config, "model" | "anthropic" | "openai">,
): Probe | undefined {
  switch (model.split("/")[0]) {
    case "anthropic":
      return {
        url: `${base(anthropic.baseUrl ?? "https://api.anthropic.com").replace(/\/v1$/, "")}/v1/models`,
        headers: { "anthropic-version": "2023-06-01", "x-api-key": anthropic.apiKey ?? "" },
        key: "ANTHROPIC_API_KEY",
        missing: anthropic.apiKey ?? anthropic.baseUrl ? undefined : "ANTHROPIC_API_KEY",
      };
    case "openai":
      return {
        url: `${base(openai.baseUrl ?? "https://api.openai.com/v1")}/models`,
        headers: openai.apiKey === undefined ? {} : { authorization: `Bearer ${openai.apiKey}` },
        key: "OPENAI_API_KEY",
        missing: openai.apiKey ?? openai.baseUrl ? undefined : "OPENAI_API_KEY",
      };
    case "ollama":
      return { url: "http://127.0.0.1:11434/api/tags", headers: {}, key: "" };
    default:
      return undefined;
  }
}

function base(url: string): string {
  return url.replace(/\/+$/, "");
}
