/**
 * What a reaction to a card means. Apart from the protocol, whose schemas a pure actor's bundle must not hold.
 */

/** Zulip's names of the emoji that decide. */
export const reactionMeanings: Readonly<Record<string, "allow_once" | "reject_once">> = {
  "+1": "allow_once",
  "thumbs_up": "allow_once",
  "check": "allow_once",
  "check_mark": "allow_once",
  "-1": "reject_once",
  "thumbs_down": "reject_once",
  "cross_mark": "reject_once",
};
