/**
 * The script of `callboard/rehearsal`: what a newcomer can try without any key.
 *
 * A pure function of the history and of the tools on offer. Promises: every final answer says that no AI was involved;
 * a tool result is always answered with text, so a turn ends after one round of calls; a refused call is accepted
 * gracefully and never tried another way. It is not intelligent, and says so. Proved by `rehearsal_test.ts`.
 */

import type { HistoryItem, ModelItem, ToolSpec } from "../protocol/model.ts";
import * as lines from "./rehearsal_lines.ts";
import { editOf, isUnknown } from "./rehearsal_result.ts";
import { readToolLines } from "./tool_line.ts";

type ToolCall = Extract<HistoryItem, { type: "tool_call" }>;
type ToolResult = Extract<HistoryItem, { type: "tool_result" }>;

/** What the script knows to do, with the words that call for it. */
const TRICKS: readonly {
  readonly words: RegExp;
  readonly tool: string;
  readonly act: (text: string) => Act;
}[] = [
  { words: /\b(?:run|disk|shell|command|execute)\b/i, tool: "exec_command", act: runCommand },
  { words: /\b(?:ask|question)\b/i, tool: "ask_user", act: askBack },
  { words: /\b(?:remind|schedule)\b/i, tool: "schedule", act: setReminder },
  { words: /\b(?:write|file)\b/i, tool: "write_file", act: writeFile },
];

interface Act {
  /** Said before the call. */
  readonly say: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

/** Answers the history: items of one model step. */
export function rehearse(history: readonly HistoryItem[], tools: readonly ToolSpec[]): ModelItem[] {
  const userAt = history.findLastIndex((item) => item.type === "user");
  const results = history.slice(userAt + 1).filter((item) => item.type === "tool_result");
  if (results.length > 0) return [answer(results.map((result) => report(result, history)).join("\n\n"))];
  const asked = history[userAt];
  const text = asked?.type === "user" ? asked.text : "";
  const newCall = callMaker(history);

  const toolLines = readToolLines(text);
  if (toolLines.length > 0) return toolLines.map((line) => newCall(line.name, line.arguments));
  if (lines.isReminder(text)) return [answer(lines.reminderCame(text))];
  const trick = firstTrick(text);
  if (trick === undefined) {
    const isFirst = history.findIndex((item) => item.type === "user") === userAt;
    return [answer(isFirst ? lines.INTRODUCTION : lines.notUnderstood(text))];
  }
  if (!tools.some((tool) => tool.name === trick.tool)) return [answer(lines.notOffered(trick.tool))];
  const act = trick.act(text);
  return [{ type: "assistant", text: act.say }, newCall(trick.tool, JSON.stringify(act.arguments))];
}

/** The trick whose word comes first in the text. */
function firstTrick(text: string) {
  return TRICKS.map((trick) => ({ trick, at: text.search(trick.words) }))
    .filter(({ at }) => at >= 0)
    .sort((a, b) => a.at - b.at)[0]?.trick;
}

/** Call ids are counted through the whole history, so that they never repeat. */
function callMaker(history: readonly HistoryItem[]): (name: string, args: string) => ToolCall {
  let count = history.filter((item) => item.type === "tool_call").length;
  return (name, args) => ({ type: "tool_call", callId: `rehearsal_${++count}`, name, arguments: args });
}

function answer(text: string): ModelItem {
  return { type: "assistant", text: `${text}\n\n${lines.FOOTER}` };
}

function report(given: ToolResult, history: readonly HistoryItem[]): string {
  const { edit, text } = editOf(given.text);
  const said = reportOf(
    { ...given, text },
    edit === undefined ? commandOf(given.callId, history) : undefined,
  );
  return edit === undefined ? said : `${lines.callEdited(given.name, edit)}\n\n${said}`;
}

function reportOf(result: ToolResult, command: string | undefined): string {
  if (!result.ok && isUnknown(result.text)) return lines.outcomeUnknown(result.name, result.text);
  if (!result.ok) return lines.callFailed(result.name, result.text);
  switch (result.name) {
    case "exec_command":
      return lines.commandRan(command, result.text);
    case "ask_user":
      return lines.userAnswered(result.text);
    case "schedule":
      return lines.reminderSet(result.text);
    case "write_file":
      return lines.fileWritten(result.text);
    default:
      return lines.toolAnswered(result.name, result.text);
  }
}

function commandOf(callId: string, history: readonly HistoryItem[]): string | undefined {
  const call = history.find((item) => item.type === "tool_call" && item.callId === callId);
  const found = call?.type === "tool_call"
    ? /"command"\s*:\s*("(?:[^"\\]|\\.)*")/.exec(call.arguments)?.[1]
    : undefined;
  return found === undefined ? undefined : String(JSON.parse(found));
}

function runCommand(text: string): Act {
  const command = backticked(text) ?? (/\bdisk\b/i.test(text) ? "df -h ." : "uname -sr && date");
  return { say: lines.wantsToRun(command), arguments: { command } };
}

function askBack(): Act {
  return {
    say: lines.WANTS_TO_ASK,
    arguments: { question: lines.QUESTION, suggestions: [...lines.QUESTION_SUGGESTIONS] },
  };
}

function setReminder(text: string): Act {
  const inSeconds = waitIn(text) ?? 60;
  const about = /\b(?:to|that|about)\s+(.+?)(?:\s+in\s+\d+\s*\w+)?[.!?]?\s*$/i.exec(text)?.[1] ??
    "the show goes on";
  return {
    say: lines.wantsToRemind(inSeconds),
    arguments: { key: "rehearsal-reminder", kind: "once", inSeconds, prompt: lines.reminderPrompt(about) },
  };
}

function writeFile(text: string): Act {
  const path = backticked(text) ?? /\b[\w-]+\.[A-Za-z]{1,5}\b/.exec(text)?.[0] ?? "rehearsal.txt";
  const content = /"([^"]+)"/.exec(text)?.[1] ?? lines.FILE_CONTENT;
  return { say: lines.wantsToWrite(path), arguments: { path, content: `${content}\n` } };
}

function backticked(text: string): string | undefined {
  return /`([^`\n]+)`/.exec(text)?.[1];
}

function waitIn(text: string): number | undefined {
  const found = /\bin\s+(\d{1,4})\s*(s|sec|second|m|min|minute|h|hour)s?\b/i.exec(text);
  if (found === null) return undefined;
  const unitSeconds = { s: 1, m: 60, h: 3_600 }[String(found[2]).charAt(0).toLowerCase()] ?? 1;
  return Math.max(1, Number(found[1]) * unitSeconds);
}
