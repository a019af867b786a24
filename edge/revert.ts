/**
 * The command that takes back a change of policy, from its entry in the decisions log. Pure. An entry that holds no *before*, or that is no
 * change, has none. Proven by `edge/rules_test.ts`.
 */
import * as z from "zod";
import {
  ConversationStanding,
  GateSettings,
  type PolicyCommand,
  RuleBody,
  StoredRule,
} from "../actors/protocol/approval.ts";
import { ProfileBody } from "../lib/profile.ts";

type Command = PolicyCommand["command"];

const Id = z.object({ id: z.string() });
const Named = z.object({ name: z.string(), description: z.string().optional() });
const RuleChange = Id.extend({ before: RuleBody, after: RuleBody });
const Order = z.object({ groupId: z.string(), before: z.array(z.string()) });
const Renamed = Id.extend({ before: Named });
const LostGroup = Id.extend({ ...Named.shape, rules: z.array(StoredRule) });
const Choice = z.object({ profile: z.string(), before: z.string() });
const ProfileEdit = Id.extend({ before: ProfileBody });
const LostProfile = Id.extend({ profile: ProfileBody });
const Moved = Id.extend({ before: z.string(), standing: ConversationStanding });

const SettingsChange = z.object({ before: GateSettings });
const Reverting = z.object({ reverts: z.number().optional() });

/** Gives the command, or undefined. `decision` and `body` are the entry's own. */
export function inverseOf(decision: string, body: unknown): Command | undefined {
  switch (decision) {
    case "rule.create":
    case "rule.restore":
      return from(Id, body, ({ id }) => ({ kind: "rule.delete", id }));
    case "rule.update":
      return from(RuleChange, body, ({ id, before }) => ({ kind: "rule.update", id, rule: before }));
    case "rule.order":
      return from(Order, body, ({ groupId, before }) => ({ kind: "rule.order", groupId, ids: before }));
    case "rule.delete":
      return from(StoredRule, body, (rule) => ({ kind: "rule.restore", ...rule }));
    case "group.create":
    case "group.restore":
      return from(Id, body, ({ id }) => ({ kind: "group.delete", id }));
    case "group.update":
      return from(Renamed, body, ({ id, before }) => ({ kind: "group.update", id, ...before }));
    case "group.delete":
      return from(LostGroup, body, (group) => ({ kind: "group.restore", ...group }));
    case "profile.group":
      return from(
        Choice,
        body,
        ({ profile, before }) => ({ kind: "profile.group", profile, groupId: before }),
      );
    case "profile.create":
    case "profile.restore":
      return from(Id, body, ({ id }) => ({ kind: "profile.delete", id }));
    case "profile.update":
      return from(ProfileEdit, body, ({ id, before }) => ({ kind: "profile.update", id, changes: before }));
    case "profile.delete":
      return from(LostProfile, body, (lost) => ({ kind: "profile.restore", ...lost }));
    case "conversation.profile":
      return from(Moved, body, ({ id, before, standing }) => {
        return { kind: "conversation.profile", conversation: id, profile: before, standing };
      });
    case "bypass.create":
      return from(Id, body, ({ id }) => ({ kind: "bypass.revoke", id }));
    case "gate.settings":
      return from(SettingsChange, body, ({ before }) => ({ kind: "gate.settings", settings: before }));
    case "effects.suspend":
      return { kind: "effects.resume" };
    case "effects.resume":
      return { kind: "effects.suspend" };
    default:
      return undefined;
  }
}

/** An entry of the log, as far as reverting needs it. */
export interface Logged {
  readonly seq: number;
  readonly kind: string;
  readonly decision: string;
  readonly body: unknown;
}

/**
 * Whether an entry no longer tells how things stand: it was taken back, or the same thing was changed by one that was not. `later` are the changes
 * after it, newest first: what was taken back and what took it back cancel each other in that order.
 */
export async function isOvertaken(
  entry: Logged,
  later: AsyncIterable<Logged> | Iterable<Logged>,
): Promise<boolean> {
  const subject = subjectOf(entry.decision, entry.body);
  const undone = new Set<number>();
  for await (const other of later) {
    if (other.kind !== "policy" || undone.has(other.seq)) continue;
    const { reverts } = Reverting.catch({}).parse(other.body);
    if (reverts !== undefined) undone.add(reverts);
    else if (subjectOf(other.decision, other.body) === subject) return true;
  }
  return undone.has(entry.seq);
}

/** What a change is about: a rule, a group, a profile, the switch. */
function subjectOf(decision: string, body: unknown): string {
  const kind = decision.split(".")[0] ?? "";
  const Subject = z.object({
    id: z.string().optional(),
    profile: z.string().optional().catch(undefined),
    groupId: z.string().optional(),
  });
  const { id, profile, groupId } = Subject.catch({}).parse(body);
  return `${kind} ${id ?? profile ?? groupId ?? ""}`;
}

function from<Schema extends z.ZodType>(
  schema: Schema,
  body: unknown,
  make: (parsed: z.output<Schema>) => Command,
): Command | undefined {
  const parsed = schema.safeParse(body);
  return parsed.success ? make(parsed.data) : undefined;
}
