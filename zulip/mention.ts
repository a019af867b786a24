/**
 * Mention tokens in raw Zulip Markdown: build them, find them, take them out.
 *
 * Promises: a built token is always of one person, whatever that person is called, because it carries the id; text from a model cannot call a whole
 * channel (`silenceWildcards`). Finding is literal: a token inside a code block counts too, which the event's `mentioned` flag does not. Pure; knows no
 * users. Proved by `text_test.ts`.
 */

export interface Mentionable {
  readonly id: number;
  readonly fullName: string;
}

/** Characters that Zulip does not allow in names and that would end or bend a token. */
const UNSAFE_IN_TOKEN = /[*`\\>"@\n\r|]/;

/** A mention that notifies: `@**Name|id**`. */
export function mention(user: Mentionable): string {
  return `@**${tokenName(user)}|${user.id}**`;
}

/** A mention that shows the name and notifies nobody: `@_**Name|id**`. */
export function silentMention(user: Mentionable): string {
  return `@_**${tokenName(user)}|${user.id}**`;
}

/** The server finds the person by id alone when the name is left out. */
function tokenName(user: Mentionable): string {
  return UNSAFE_IN_TOKEN.test(user.fullName) ? "" : user.fullName;
}

/** Whether `text` holds a token of this person: loud or silent, by name, by name and id, or by id. */
export function hasMention(text: string, user: Mentionable): boolean {
  return tokensOf(user).test(text);
}

/**
 * `text` without this person's tokens. A token that opens the text takes a following `,` or `:` with it. A message that was only a mention keeps its raw
 * text, so that there is something to answer.
 */
export function stripMentions(text: string, user: Mentionable): string {
  const lead = new RegExp(`^\\s*(?:${tokensOf(user).source}[,:]?\\s*)+`);
  const body = text.replace(lead, "").replace(new RegExp(`[ \\t]?${tokensOf(user).source}`, "g"), "").trim();
  return body === "" ? text.trim() : body;
}

function tokensOf(user: Mentionable): RegExp {
  const name = user.fullName.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  // Old documents put the silent mark at both ends: `@_**Name**_`.
  return new RegExp(
    `@(?:_\\*\\*(?:${name}(?:\\|${user.id})?|\\|${user.id})\\*\\*_?|\\*\\*(?:${name}(?:\\|${user.id})?|\\|${user.id})\\*\\*)`,
  );
}

const WILDCARD = /@\*\*(all|everyone|channel|stream|topic)\*\*/g;

/** Makes wildcard mentions silent, so that they are shown and call nobody. */
export function silenceWildcards(text: string): string {
  return text.replace(WILDCARD, "@_**$1**");
}
