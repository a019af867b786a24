/**
 * Commands in a topic: `!help`, `!status`, `!stop`, `!stop all`, `!resume all`, `!new`, `!model`. Parsing is pure; what a command does is the intake's business.
 * Proven by `intake_test.ts`.
 */
import { type Choice, readChoice } from "./buttons.ts";

/** A command, or the text to hand to the conversation. */
export type Command =
  | { readonly kind: "help" | "status" | "stop" | "new" | "stop_all" | "resume_all" }
  | { readonly kind: "model"; readonly model: string | null }
  /** A decision about a card, as its buttons send it. */
  | { readonly kind: "choice"; readonly choice: Choice }
  /** The words of one without what makes it one. */
  | { readonly kind: "no_choice"; readonly word: string }
  | { readonly kind: "unknown"; readonly word: string }
  /** A known command with words after it that it does not take. */
  | { readonly kind: "surplus"; readonly word: string }
  | { readonly kind: "text"; readonly text: string };

/**
 * Reads a message whose mentions were taken out. `!`, `/` and `.` all begin a command, a verb is case-insensitive (phones capitalise), the
 * argument is never folded. `!!x` is `!x` as prose. An unknown word after `!` is answered, after `/` or `.` it is prose; so is `!important:`. A
 * known one with words that it does not take is answered too: "!stop please" must not be lost on somebody who is in a hurry.
 */
export function parseCommand(text: string): Command {
  const trimmed = text.trim();
  // Real Zulip messages of their own kind.
  if (/^\/(me|poll|todo)\b/i.test(trimmed)) return { kind: "text", text };
  if (trimmed.startsWith("!!")) return { kind: "text", text: trimmed.slice(1) };
  const match = /^([!/.])([A-Za-z][\w-]*)(?:\s+([\s\S]*))?$/.exec(trimmed);
  if (!match) return { kind: "text", text };
  const [, sigil, word = "", rest = ""] = match;
  const verb = word.toLowerCase();
  const argument = rest.trim();
  switch (verb) {
    case "help":
    case "status":
    case "stop":
      if (argument === "") return { kind: verb };
      if (verb === "stop" && argument.toLowerCase() === "all") return { kind: "stop_all" };
      break;
    case "resume":
      if (argument.toLowerCase() === "all") return { kind: "resume_all" };
      break;
    case "new":
    case "reset":
      if (argument === "") return { kind: "new" };
      break;
    case "model":
    case "m":
      return { kind: "model", model: argument === "" ? null : argument };
    case "allow":
    case "reject": {
      const choice = readChoice(verb, argument);
      if (choice) return { kind: "choice", choice };
      if (sigil === "!") return { kind: "no_choice", word: verb };
    }
  }
  if (sigil === "!" && argument === "") return { kind: "unknown", word };
  if (sigil === "!" && ["help", "status", "stop", "new", "reset", "resume"].includes(verb)) {
    return { kind: "surplus", word: verb };
  }
  return { kind: "text", text };
}

/** The answer to `!help`. */
export const help = [
  "**Commands**",
  "- `!status` — what this conversation is doing",
  "- `!stop` — stop the running turn",
  "- `!stop all` — the owner: no agent begins anything, anywhere, until `!resume all`",
  "- `!new` — start afresh in this topic",
  "- `!model provider/name` — choose the model for the next turns",
  "- `!!text` — send `!text` as prose",
  "",
  "In a topic of a channel where no conversation has begun, a command needs a mention of me before it, as everything else does; later it does not.",
  "",
  "A card of a call that waits says how to decide it: by 👍 or 👎, by its buttons, or in the inbox.",
].join("\n");
