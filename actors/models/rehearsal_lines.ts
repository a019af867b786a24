/**
 * Everything that the rehearsal model says, in one place.
 *
 * Plain Markdown that reads well in Zulip and in the web chat. Pure. Proved by `rehearsal_test.ts`.
 */

/** Ends every answer. */
export const FOOTER =
  "*— Scripted rehearsal model, no AI involved. Set `MODEL` and a provider's key to cast a real one.*";

const TRICKS = [
  "- **“How full is the disk?”** I ask to run a command. It waits in your inbox until you allow it.",
  "- **“Ask me something.”** I put a question to you, and wait for the answer.",
  "- **“Remind me in 2 minutes to stretch.”** I ask for a schedule entry.",
  "- **“Write a file.”** I ask to create one in this conversation's workspace.",
].join("\n");

/** The first answer that a newcomer sees. */
export const INTRODUCTION =
  `Hello! I am the rehearsal model: a small script that stands in until you connect a real one.

Callboard runs AI agents as supervised actors. Each conversation is an actor of its own: if one crashes, the others do not notice, and it comes back and carries on. An agent may think what it likes, but **nothing with an effect happens until you allow it**. What needs you waits in your inbox, for as long as it takes, also while you are away.

Try it. Say one of these:

${TRICKS}

Allow the call, or reject it. Either way you will see what I was told.`;

export function notUnderstood(text: string): string {
  return `You said:\n\n${
    quote(text, 300)
  }\n\nI only follow a script, so I cannot make much of that. These I know:\n\n${TRICKS}`;
}

export function notOffered(tool: string): string {
  return `For that I would call the tool \`${tool}\`, but this conversation's profile does not offer it to me. You can change the profile under *Profiles*.`;
}

export function wantsToRun(command: string): string {
  return `I would like to run this command:\n\n${
    fence(command)
  }\n\nThat has an effect, so it waits for your decision.`;
}

export function commandRan(command: string | undefined, output: string): string {
  const what = command === undefined ? "The command ran." : `I ran ${inline(command)}.`;
  return `Thank you. ${what} This is what came back, unaltered:\n\n${fence(cut(output, 1_500))}`;
}

export const WANTS_TO_ASK = "I have a question for you. It is in your inbox, and I wait.";
export const QUESTION = "What colour should the stage curtain be?";
export const QUESTION_SUGGESTIONS = ["Red, as ever", "Midnight blue", "Surprise me"] as const;

export function userAnswered(text: string): string {
  return `You answered:\n\n${quote(text, 500)}\n\nNoted. The stage hands are on it.`;
}

export function wantsToRemind(seconds: number): string {
  return `I would like to remind you in ${
    spoken(seconds)
  }. Changing the schedule needs your approval, because it makes me act later without being asked.`;
}

const REMINDER = "Reminder: ";

/** The text that wakes the model when the time has come. */
export function reminderPrompt(about: string): string {
  return `${REMINDER}${about.trim()}`;
}

export function isReminder(text: string): boolean {
  return text.includes(REMINDER);
}

export function reminderCame(text: string): string {
  const about = text.slice(text.indexOf(REMINDER) + REMINDER.length).trim();
  return `It is time. You wanted to be reminded:\n\n${quote(about, 500)}`;
}

export function reminderSet(text: string): string {
  return `It is on the callboard. The scheduler says:\n\n${quote(text, 500)}`;
}

export const FILE_CONTENT = "Written by Callboard's rehearsal model, after you allowed it.";

export function wantsToWrite(path: string): string {
  return `I would like to write the file ${inline(path)}. You can see its exact content before you decide.`;
}

export function fileWritten(text: string): string {
  return `The file is written. The toolbox says:\n\n${quote(text, 500)}`;
}

export function callEdited(tool: string, { by, changes }: { by: string; changes: string }): string {
  return `${by} changed my call of \`${tool}\` before allowing it, so what follows is not about the call that I made. Changed:\n\n${
    fence(cut(changes, 700))
  }`;
}

export function outcomeUnknown(tool: string, reason: string): string {
  return `Nobody knows whether the call of \`${tool}\` ran. I was told:\n\n${
    quote(reason, 700)
  }\n\nI do not repeat it by myself. Look at what is there, and tell me whether to go on.`;
}

export function callFailed(tool: string, reason: string): string {
  return `The call of \`${tool}\` did not go through. I was told:\n\n${
    quote(reason, 700)
  }\n\nThat is fine with me: I do not look for a way around it.`;
}

export function toolAnswered(tool: string, output: string): string {
  return `The tool \`${tool}\` answered:\n\n${fence(cut(output, 1_500))}`;
}

function spoken(seconds: number): string {
  const [amount, unit] = seconds % 3_600 === 0
    ? [seconds / 3_600, "hour"]
    : seconds % 60 === 0
    ? [seconds / 60, "minute"]
    : [seconds, "second"];
  return `${amount} ${unit}${amount === 1 ? "" : "s"}`;
}

function cut(text: string, maxChars: number): string {
  return text.length <= maxChars
    ? text
    : `${text.slice(0, maxChars)}\n[… ${text.length - maxChars} more characters]`;
}

function quote(text: string, maxChars: number): string {
  return cut(text.trim() || "(nothing)", maxChars).split("\n").map((line) => `> ${line}`).join("\n");
}

/** A fence that the text cannot close. */
function fence(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  const ticks = "`".repeat(longest + 1);
  return `${ticks}\n${text.trimEnd() || "(no output)"}\n${ticks}`;
}

function inline(text: string): string {
  return text.includes("`") || text.includes("\n") ? `“${text}”` : `\`${text}\``;
}
