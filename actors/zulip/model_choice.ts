/**
 * Which models somebody may choose here, and why another one may not be. Pure; whether a provider answers is not known.
 * Proven by `model_choice_test.ts`.
 */
import * as z from "zod";
import { codeSpan } from "../../zulip/markdown.ts";
import { printableLine } from "../../lib/printable.ts";

/** A provider as it is configured. */
export const Provider = z.object({
  name: z.string(),
  /** All that it is known to have; `any`: a server of one's own, of which nobody knows. */
  models: z.union([z.array(z.string()), z.literal("any")]),
  /** The variable without which it cannot be used. */
  needs: z.string().optional(),
});
export type Provider = z.infer<typeof Provider>;

const MAX_LISTED = 30;

/** Why `provider/name` cannot be chosen, with what can, in Markdown; undefined when it can. */
export function refusalOf(model: string, providers: readonly Provider[]): string | undefined {
  const slash = model.indexOf("/");
  const provider = providers.find(({ name }) => name === model.slice(0, Math.max(0, slash)));
  if (!provider) {
    return `There is no provider ${quoted(model.slice(0, Math.max(0, slash)))} here. ${offer(providers)}`;
  }
  if (provider.needs !== undefined) {
    return `${quoted(`${provider.name}/…`)} needs \`${provider.needs}\` on the server. ${offer(providers)}`;
  }
  if (provider.models === "any") return undefined;
  const names = provider.models;
  const wanted = model.slice(slash + 1);
  if (names.includes(wanted)) return undefined;
  const listed = byLikeness(names, wanted).slice(0, MAX_LISTED).map((name) =>
    quoted(`${provider.name}/${name}`)
  );
  const more = names.length > MAX_LISTED ? `, and ${names.length - MAX_LISTED} more` : "";
  return `${quoted(provider.name)} has no model ${quoted(wanted)} that is known here. It has: ${
    listed.join(", ")
  }${more}.`;
}

/** What can be chosen from, in Markdown. */
export function offer(providers: readonly Provider[]): string {
  const usable = providers.filter(({ needs }) => needs === undefined).map(({ name, models }) =>
    models.length === 1 ? `${name}/${models[0]}` : `${name}/…`
  );
  return `Choose from: ${usable.map(quoted).join(", ")}.`;
}

function byLikeness(names: readonly string[], wanted: string): string[] {
  const likeness = (name: string) => {
    let length = 0;
    while (length < name.length && name[length] === wanted[length]) length++;
    return length;
  };
  return [...names].sort((a, b) => likeness(b) - likeness(a) || a.localeCompare(b, "en"));
}

function quoted(text: string): string {
  return codeSpan(printableLine(text.slice(0, 100)));
}
