/**
 * Topic names. In Zulip a topic is a string, compared without regard to case; resolving one renames it to `✔ ` + name.
 *
 * Promises: `foo`, `FOO` and `✔ foo` have one key; an empty topic is the general chat under either spelling. Pure; does not know which topic is whose.
 * Proved by `text_test.ts`.
 */

/** Check mark and space, set in front of a resolved topic's name. */
export const RESOLVED_PREFIX = "✔ ";

/** The name without any number of resolved prefixes. */
export function baseTopic(topic: string): string {
  let base = topic;
  while (base.startsWith(RESOLVED_PREFIX)) base = base.slice(RESOLVED_PREFIX.length);
  return base;
}

export function isResolved(topic: string): boolean {
  return topic.startsWith(RESOLVED_PREFIX);
}

/** What two spellings of one topic have in common. `emptyName` is the realm's word for the general chat. */
export function topicKey(topic: string, emptyName = "general chat"): string {
  const base = baseTopic(topic).trim();
  return isGeneralChat(base, emptyName) ? "" : base.toLowerCase();
}

export function isGeneralChat(topic: string, emptyName = "general chat"): boolean {
  const name = topic.trim().toLowerCase();
  return name === "" || name === "general chat" || name === emptyName.toLowerCase();
}

/** Controls, surrogates, private use and unassigned code points, which the server refuses in topics, and newlines. */
const UNPRINTABLE = /[\p{Cc}\p{Cs}\p{Cn}\p{Co}\u2028\u2029]+/gu;

/** A name that the server accepts and keeps as it is: printable, trimmed, at most `maxLength` code points. */
export function cleanTopic(topic: string, maxLength = 60): string {
  const points = [...topic.replace(UNPRINTABLE, " ").replace(/\s+/g, " ").trim()];
  if (points.length <= maxLength) return points.join("");
  return points.slice(0, maxLength - 1).join("").trimEnd() + "…";
}
