/**
 * What an MCP server says of its own tool, in words for a card. It is the server's claim; policy gets to see it only of a server that is configured
 * as trusted (`tool_pattern.ts`).
 * Proven by `actors/zulip/intake_test.ts` and `actors/approval/approval_test.ts`.
 */

/** The annotations as the server wrote them; absent: it does not say. */
export interface Hints {
  readonly readOnly?: boolean | undefined;
  readonly destructive?: boolean | undefined;
  readonly openWorld?: boolean | undefined;
  readonly idempotent?: boolean | undefined;
}

/** One phrase for each thing that it says. */
export function claimsOf(hints: Hints | undefined): string[] {
  const { readOnly, destructive, openWorld, idempotent } = hints ?? {};
  const said = (value: boolean | undefined, yes: string, no: string) =>
    value === undefined ? [] : [value ? yes : no];
  return [
    ...said(readOnly, "changes nothing", "changes things"),
    ...said(destructive, "may destroy", "destroys nothing"),
    ...said(openWorld, "reaches outside", "stays inside"),
    ...said(idempotent, "may be repeated", "is not to be repeated"),
  ];
}
