/** Proves that a model which cannot be used here is refused with those that can. */
import assert from "node:assert/strict";
import { offer, type Provider, refusalOf } from "./model_choice.ts";

const providers: readonly Provider[] = [
  { name: "callboard", models: ["rehearsal"] },
  { name: "anthropic", models: ["claude-a", "claude-b", "other"] },
  { name: "openai", models: ["gpt"], needs: "OPENAI_API_KEY" },
  { name: "ollama", models: "any" },
];

Deno.test.each(["anthropic/claude-a", "callboard/rehearsal", "ollama/whatever:7b", "ollama/a/b"])(
  "$0 can be chosen",
  (model) => assert.equal(refusalOf(model, providers), undefined),
);

Deno.test.each([
  [
    "an unknown provider",
    "acme/gpt",
    /no provider `acme` here\. Choose from: `callboard\/rehearsal`, `anthropic\/…`, `ollama\/…`\./,
  ],
  ["a provider without its key", "openai/gpt", /`openai\/…` needs `OPENAI_API_KEY`.*Choose from/],
  [
    "an unknown model",
    "anthropic/claude-bb",
    /no model `claude-bb`.*It has: `anthropic\/claude-b`, `anthropic\/claude-a`, `anthropic\/other`\./,
  ],
  ["a name that is Markdown", "a`*b/x", /no provider ``a`\*b`` here/],
])("$0 is refused with what can be chosen", (_what, model, words) => {
  assert.match(refusalOf(model, providers) ?? "", words);
});

Deno.test("a long list is cut and says so", () => {
  const models = Array.from({ length: 40 }, (_, n) => `m${n}`);

  assert.match(refusalOf("big/x", [{ name: "big", models }]) ?? "", /, and 10 more\.$/);
  assert.equal(offer([{ name: "big", models }]), "Choose from: `big/…`.");
});
