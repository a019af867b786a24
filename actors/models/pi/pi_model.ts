/**
 * Turns a model name such as `anthropic/claude-sonnet-4-5` into what is needed to call it: protocol, address, key.
 *
 * Pure; the catalogue of known models is a parameter. A name that the catalogue does not know works with careful
 * defaults and costs 0. Nothing is read from the environment. It does not call anything.
 * Proved by `pi_messages_test.ts`.
 */

import type { Model } from "@earendil-works/pi-ai";
import type { ModelError, ReasoningEffort } from "../../protocol/model.ts";

/** Where a provider is, and with which key. */
export interface Endpoint {
  readonly apiKey?: string | undefined;
  readonly baseUrl?: string | undefined;
}

/** Everything the models gateway is told about providers. */
export interface ModelEndpoints {
  readonly anthropic?: Endpoint;
  /** With a `baseUrl` other than OpenAI's own, chat completions are spoken unless `api` says otherwise. */
  readonly openai?: Endpoint & { readonly api?: "responses" | "completions" | undefined };
  /** @default {baseUrl: "http://127.0.0.1:11434/v1"} */
  readonly ollama?: Endpoint;
}

/** Models with known limits and prices, by name without the provider. */
export interface ModelCatalog {
  readonly anthropic: ReadonlyMap<string, Model<"anthropic-messages">>;
  readonly openai: ReadonlyMap<string, Model<"openai-responses">>;
}

export type ResolvedModel =
  | {
    readonly api: "anthropic-messages";
    readonly model: Model<"anthropic-messages">;
    readonly apiKey: string;
  }
  | { readonly api: "openai-responses"; readonly model: Model<"openai-responses">; readonly apiKey: string }
  | {
    readonly api: "openai-completions";
    readonly model: Model<"openai-completions">;
    readonly apiKey: string;
  };

export type ModelResolution =
  | { readonly ok: true; readonly value: ResolvedModel }
  | { readonly ok: false; readonly error: ModelError };

const OPENAI_URL = "https://api.openai.com/v1";
const ANTHROPIC_URL = "https://api.anthropic.com";
const OLLAMA_URL = "http://127.0.0.1:11434/v1";
/** Local servers want no key, but the client library insists on one. */
const NO_KEY = "none";

export interface ResolveOptions {
  readonly endpoints: ModelEndpoints;
  readonly catalog: ModelCatalog;
  /** An unknown model is taken as one that can reason only when it is asked to. */
  readonly reasoningEffort?: ReasoningEffort | undefined;
}

/** Resolves `provider/name`; the name may contain slashes. */
export function resolveModel(modelName: string, options: ResolveOptions): ModelResolution {
  const slash = modelName.indexOf("/");
  const provider = modelName.slice(0, Math.max(0, slash));
  const id = modelName.slice(slash + 1);
  const { anthropic = {}, openai = {}, ollama = {} } = options.endpoints;
  if (id === "") return refuse("bad_request", `The model "${modelName}" has no name after the provider.`);
  switch (provider) {
    case "anthropic":
      return resolveAnthropic(id, anthropic, options);
    case "openai":
      return speaksResponses(openai)
        ? resolveResponses(id, openai, options)
        : resolveCompletions(id, openai, options);
    case "openai-compatible":
      if (openai.baseUrl === undefined) {
        return refuse("bad_request", `Set OPENAI_BASE_URL to use the model "${modelName}".`);
      }
      return resolveCompletions(id, openai, options);
    case "ollama":
      return resolveCompletions(id, { ...ollama, baseUrl: ollama.baseUrl ?? OLLAMA_URL }, options);
    default:
      return refuse(
        "bad_request",
        `No provider is known for the model "${modelName}". Use anthropic/…, openai/…, openai-compatible/…, ollama/… or callboard/rehearsal.`,
      );
  }
}

function resolveAnthropic(
  id: string,
  endpoint: Endpoint,
  { catalog, reasoningEffort }: ResolveOptions,
): ModelResolution {
  if (!endpoint.apiKey) return refuse("auth", `Set ANTHROPIC_API_KEY to use the model "anthropic/${id}".`);
  const known = catalog.anthropic.get(id);
  const model: Model<"anthropic-messages"> = {
    ...(known ?? { ...unknownModel(id, 200_000, 8_192, reasoningEffort), provider: "anthropic" }),
    api: "anthropic-messages",
    baseUrl: (endpoint.baseUrl ?? ANTHROPIC_URL).replace(/\/(v1\/?)?$/, ""),
  };
  // No model chosen for us and no state on the server: what is asked for is what runs, whatever proxy is between.
  const { allowedFallbackModels: _, ...compat } = model.compat ?? {};
  model.compat = {
    ...compat,
    supportsMessageThreads: false,
    supportsMidConvoEffort: false,
    supportsMidConvoSystemMessages: false,
    supportsMidConvoToolChanges: false,
    supportsStrictTools: false,
  };
  return { ok: true, value: { api: "anthropic-messages", model, apiKey: endpoint.apiKey } };
}

function resolveResponses(
  id: string,
  endpoint: Endpoint,
  { catalog, reasoningEffort }: ResolveOptions,
): ModelResolution {
  if (!endpoint.apiKey) return refuse("auth", `Set OPENAI_API_KEY to use the model "openai/${id}".`);
  const known = catalog.openai.get(id);
  const model: Model<"openai-responses"> = {
    ...(known ?? { ...unknownModel(id, 128_000, 16_384, reasoningEffort), provider: "openai" }),
    api: "openai-responses",
    baseUrl: withVersionPath(endpoint.baseUrl ?? OPENAI_URL),
  };
  model.compat = {
    ...model.compat,
    supportsMidConvoEffort: false,
    supportsMidConvoSystemMessages: false,
    supportsAdditionalTools: false,
    supportsToolSearch: false,
    supportsStrictMode: false,
  };
  return { ok: true, value: { api: "openai-responses", model, apiKey: endpoint.apiKey } };
}

function resolveCompletions(
  id: string,
  endpoint: Endpoint,
  { reasoningEffort }: ResolveOptions,
): ModelResolution {
  const model: Model<"openai-completions"> = {
    ...unknownModel(id, 128_000, 16_384, reasoningEffort),
    provider: "openai-compatible",
    api: "openai-completions",
    baseUrl: withVersionPath(endpoint.baseUrl ?? OPENAI_URL),
    // What the widest range of servers takes.
    compat: { supportsStore: false, supportsDeveloperRole: false, maxTokensField: "max_tokens" },
  };
  return { ok: true, value: { api: "openai-completions", model, apiKey: endpoint.apiKey || NO_KEY } };
}

function speaksResponses({ api, baseUrl }: NonNullable<ModelEndpoints["openai"]>): boolean {
  if (api !== undefined) return api === "responses";
  return baseUrl === undefined || hostOf(baseUrl) === hostOf(OPENAI_URL);
}

function unknownModel(
  id: string,
  contextWindow: number,
  maxTokens: number,
  effort: ReasoningEffort | undefined,
) {
  return {
    id,
    name: id,
    reasoning: effort !== undefined,
    input: ["text" as const],
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
    contextWindow,
    maxTokens,
  };
}

/** People write `http://localhost:11434`; the library wants the version path. */
function withVersionPath(baseUrl: string): string {
  const trimmed = baseUrl.replace(/\/+$/, "");
  return URL.parse(trimmed)?.pathname === "/" ? `${trimmed}/v1` : trimmed;
}

function hostOf(url: string): string | undefined {
  return URL.parse(url)?.hostname;
}

function refuse(kind: ModelError["class"], message: string): ModelResolution {
  return { ok: false, error: { class: kind, message } };
}
