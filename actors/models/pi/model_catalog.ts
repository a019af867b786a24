/**
 * The models whose limits and prices are known, from pi-ai's lists. Small and without its code, so that whoever only wants the names may load it.
 */
import { ANTHROPIC_MODELS } from "@earendil-works/pi-ai/providers/anthropic.models";
import { OPENAI_MODELS } from "@earendil-works/pi-ai/providers/openai.models";
import type { ModelCatalog } from "./pi_model.ts";

export const CATALOG: ModelCatalog = {
  anthropic: new Map(Object.entries(ANTHROPIC_MODELS)),
  openai: new Map(Object.entries(OPENAI_MODELS)),
};
