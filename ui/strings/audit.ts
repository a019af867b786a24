/** Every sentence of the decisions log. */
import { plural } from "./plural.ts";

/** Part of `policyStrings`. */
export const auditStrings = {
  deviceEnd: (end: string) => `device …${end}`,
  verify: "Verify chain",
  verifying: "Recomputing every hash…",
  sound: (entries: number) => `The chain holds: ${plural(entries, "entry", "entries")}, none changed.`,
  broken: (seq: number) => `The chain is broken at entry ${seq}: it or something before it was changed.`,
  export: "Export",
  search: "Filter by person, tool, decision, digest…",
  surface: "Surface",
  surfaces: { "": "All surfaces", web: "Web", zulip: "Zulip", api: "API", system: "System" },
  none: "Nothing was decided yet",
  noneBody: "Every decision and every change of policy will stand here.",
  noMatch: "No entry matches",
  noMatchBody: (hasOlder: boolean) =>
    hasOlder
      ? "Among the latest entries. Read older ones, or try fewer words."
      : "Try fewer words or another surface.",
  shown: (shown: number, all: number, hasOlder: boolean) => {
    const read = hasOlder ? `the latest ${all} entries` : plural(all, "entry", "entries");
    return shown === all ? read : `${shown} of ${read}`;
  },
  older: "Older entries",
  reading: "Reading…",
  changes: {
    "rule.create": "Rule added",
    "rule.update": "Rule changed",
    "rule.order": "Rules reordered",
    "rule.delete": "Rule deleted",
    "rule.restore": "Rule restored",
    "group.create": "Group added",
    "group.update": "Group renamed",
    "group.delete": "Group deleted",
    "group.restore": "Group restored",
    "profile.create": "Profile added",
    "profile.update": "Profile changed",
    "profile.group": "Profile's rules changed",
    "profile.delete": "Profile deleted",
    "profile.restore": "Profile restored",
    "conversation.profile": "Profile chosen",
    "bypass.create": "Bypass granted",
    "bypass.revoke": "Bypass revoked",
    "bypass.end": "Bypass ended",
    "gate.settings": "Gate changed",
    "user.create": "Person added",
    "user.update": "Person changed",
    "user.delete": "Person removed",
    "user.link": "Sign-in link made",
    "item.undo": "Allowance taken back",
    "effects.suspend": "Everything stopped",
    "effects.resume": "Stop lifted",
    expired: "Expired",
  },
  details: "Details",
  hash: "Hash",
  revert: "Revert",
  revertConfirm: "Revert this change",
  revertLabel: (seq: number) => `Revert entry ${seq}`,
  chat: "Conversation",
  item: "Item",
} as const;
