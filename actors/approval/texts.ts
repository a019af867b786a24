/** What approval says to models and people. A model reads the results, so they say what to do next. */

/** Policy denied a call. */
export function deniedByPolicy({ by, ref }: { readonly by: string; readonly ref: string }): string {
  const why = by === "profile"
    ? "this conversation's profile leaves the tool out"
    : ref === "outside_workspace"
    ? "it reaches outside the workspace"
    : `a rule forbids it (${ref})`;
  return `Refused by policy: ${why}. The call did not run. Do not look for a way around it; go on without it or ask the user.`;
}

/** A person said no. */
export function rejectedByPerson(note: string | undefined): string {
  const reason = note?.trim();
  return "The user rejected this call. It did not run." + (reason ? ` Their reason: ${reason}` : "");
}

/** A person said no, and to stop. */
export const CANCELLED_BY_PERSON = "The user rejected this call and stopped the turn. It did not run.";

/** The turn stopped first. */
export const WITHDRAWN = "The call was withdrawn before it ran.";

/** Nobody answered in time. */
export const EXPIRED = "Nobody decided in time, so the call did not run. Say so, and go on without it.";

/** The toolbox could not run what was allowed. */
export function notRun(code: string, message: string): string {
  return `The call was allowed, but running it failed (${code}): ${message}`;
}

/** Edited arguments that mean nothing to the tool; for the people who decide. */
export function editUnusable(name: string, message: string): string {
  return `${name} edited the arguments, but the edited call cannot run: ${message}`;
}

/** Two people allow the same call, so none of them changes it. */
export const EDIT_NEEDS_ONE =
  "Two people must allow this call, so it cannot be edited. Allow it as it is, or reject it and ask for another one.";

/** The same where nothing sandboxes the call. */
export const ONLY_ONCE = "Allowed this once only: nothing sandboxes this call.";

/** A lasting or session-wide allowance where it widens nothing. */
export const NOT_WIDENED = "Allowed this once only: where two people must allow a call, nothing is widened.";

/** What was to let a waiting call go ended before it did. */
export const NO_LONGER_COVERED =
  "What would have allowed this was taken back, so it waits for a person again.";

/** Why a reaction or a button decided nothing, by code; said once in the topic. */
export const reactionNotes = {
  not_linked:
    "Your Zulip account may not decide here. Open the inbox, or ask the owner to link it (Settings → People).",
  high_risk: "This call is of high risk: it cannot be decided here. Open the inbox to see and decide it.",
  not_whole:
    "The card does not show the whole call: it cannot be decided here. Open the inbox to see and decide it.",
  requester: "You asked for this, and the settings leave it to somebody else to allow it.",
  not_told_apart:
    "Two people must allow this call, and your Zulip account is linked to nobody in Callboard, so it cannot be told whose it is. The owner links it in the inbox under Settings → People.",
  second_person: "You have allowed this already: a second person must, before it runs.",
  too_late: "This is no longer open, or it has changed since. Its card says how it stands.",
  question: "A reaction cannot answer a question. Open the inbox to answer it.",
} as const;

/** How a command about everything went; said in the topic where it was given. */
export const policyNotes = {
  suspended:
    "🛑 Everything is stopped: no agent begins anything new until the owner lifts it (`!resume all`, or in the inbox). What was running goes on to its end.",
  resumed: "▶️ Lifted: agents may act again, and what was allowed meanwhile goes on its way.",
  refused: "Only the owner may do this, from a Zulip account that is linked under Settings → People.",
} as const;

/** An item was raised that nobody can decide at present. */
export const NOBODY_REACHED =
  "📭 This waits for a person, but nobody who may decide it is signed in. The owner has to sign in to the inbox.";

/** Something still waits. `waitedMs`: since it was asked. */
export function stillWaits(kind: "approval" | "question" | "elicitation", waitedMs: number): string {
  const minutes = Math.round(waitedMs / 60_000);
  const since = minutes < 120 ? `${minutes} min` : `${Math.round(minutes / 60)} h`;
  const subject = kind === "approval" ? "A call" : "A question";
  return `⏰ ${subject} has been waiting for a person for ${since}. Decide it by its card or in the inbox.`;
}

/** Nobody decided in time, and the next person is called. `who`: a mention, a name or `you`. */
export function escalatedTo(kind: "approval" | "question" | "elicitation", who: string): string {
  return `⏰ Nobody decided in time about ${thing(kind)}. It waits once more, now for ${who}.`;
}

/** Somebody was asked to decide. */
export function askedBy(kind: "approval" | "question" | "elicitation", who: string, name: string): string {
  return `👉 ${name.replace(/[*_`~@#[\]<>|\n]/g, "")} asks ${who} to decide about ${thing(kind)}.`;
}

/** Too many refusals. */
export function runOfDenials(count: number): string {
  return `⏸️ ${count} calls were refused within a few minutes, so the agent was stopped. Say how to go on.`;
}

/** One person has allowed it. */
export const SECOND_NEEDED = "One person has allowed this; a second one must before it runs.";

function thing(kind: "approval" | "question" | "elicitation"): string {
  return kind === "approval" ? "a call" : "a question";
}

/** A person thought better of it. */
export function takenBack(name: string): string {
  return `${name} took the permission back before the call began. It did not run.`;
}
