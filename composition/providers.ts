/**
 * The providers that `!model` and the API may choose from, as they are configured. Proven by `composition_test.ts`.
 */
import type { ModelsConfig } from "../actors/models/config.ts";
import { CATALOG } from "../actors/models/pi/model_catalog.ts";
import { type Provider, refusalOf } from "../actors/zulip/model_choice.ts";

/** The providers of a configuration. Behind a base URL anything may answer. */
export function providersOf({ anthropic, openai }: ModelsConfig): Provider[] {
  const needs = (variable: string, isMissing: boolean) => isMissing ? { needs: variable } : {};
  return [
    { name: "callboard", models: ["rehearsal"] },
    {
      name: "anthropic",
      models: anthropic.baseUrl === undefined ? [...CATALOG.anthropic.keys()] : "any",
      ...needs("ANTHROPIC_API_KEY", anthropic.apiKey === undefined),
    },
    {
      name: "openai",
      models: openai.baseUrl === undefined ? [...CATALOG.openai.keys()] : "any",
      ...needs("OPENAI_API_KEY", openai.apiKey === undefined && openai.baseUrl === undefined),
    },
    { name: "openai-compatible", models: "any", ...needs("OPENAI_BASE_URL", openai.baseUrl === undefined) },
    { name: "ollama", models: "any" },
  ];
}

/** Says why a model cannot be used under a configuration; the default one may be chosen whatever is known of it. */
export function modelRefusal(
  config: ModelsConfig,
  defaultModel: string | undefined,
): (model: string) => string | undefined {
  const providers = providersOf(config);
  return (model) => model === defaultModel ? undefined : refusalOf(model, providers);
}
