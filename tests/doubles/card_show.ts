/** The card of a call that waits, as approval sends it to the Zulip gateway. */
import type { CardShow } from "../../actors/protocol/zulip.ts";

/** The card of `df -h`, or of another command, of medium risk. */
export function waitingCard(text = "df -h", risk: "low" | "medium" | "high" = "medium"): CardShow {
  return {
    conversation: "c",
    itemId: "item-1",
    version: 1,
    kind: "approval",
    state: "waiting",
    tool: "exec_command",
    suggestions: [],
    reactions: true,
    described: {
      class: "exec",
      source: "builtin",
      summary: "a command",
      paths: [],
      outside: [],
      preview: { kind: "command", text },
      sandboxed: true,
      askOnce: false,
      risk,
      idempotent: false,
    },
  };
}
