/**
 * What the Zulip topic is shown of a turn: the answer as it grows (ephemeral, a hint that the gateway throttles) and the final answer
 * (durable). The topic sees the whole text of the turn each time, so a lost hint loses nothing. Other sources see nothing from here.
 */
import type { Draft } from "./draft.ts";
import { MAX_RETRIES } from "./retry.ts";
import { type ConversationState, openCalls, presentAttempt, REHEARSAL_MODEL, type Turn } from "./state.ts";
import { SILENT, status } from "./words.ts";

/** Text that must have been added before the topic is shown it again, in UTF-16 units. */
const GROWTH = 40;

/** Shows the turn's progress if it differs enough from what was shown last. Call it once, after a message was handled. */
export function showProgress(draft: Draft): void {
  const { state, env } = draft;
  const turn = state.turn;
  if (!turn || state.session?.source.kind !== "zulip") return;
  const text = textSoFar(state, turn);
  if (turn.mayBeSilent && text === "") return;
  const line = statusLine(turn, env.now);
  const { shown } = state.live;
  const grown = text.length - shown.length;
  if (line === shown.status && grown >= 0 && grown < GROWTH) return;
  const version = Math.max(shown.version + 1, env.now);
  draft.show({ shown: { version, length: text.length, status: line } });
  draft.send("zulip", "topic.progress", {
    turnId: turn.id,
    version,
    text,
    status: line,
    triggerId: turn.triggerId,
  });
}

/** Posts a turn's final answer. `suffix` says why it ended early. */
export function answerTopic(
  draft: Draft,
  turn: Turn,
  answer: { status: "complete" | "aborted" | "failed"; suffix?: string | undefined; silent?: boolean },
): void {
  if (draft.state.session?.source.kind !== "zulip") return;
  const silent = answer.silent ?? false;
  const signed = answer.status === "complete" && !silent && turn.model !== REHEARSAL_MODEL;
  draft.send("zulip", "topic.answer", {
    turnId: turn.id,
    text: silent ? "" : [...spoken(turn), ...(answer.suffix ? [answer.suffix] : [])].join("\n\n"),
    ...(signed ? { footer: turn.model.slice(0, 500) } : {}),
    status: answer.status,
    silent,
    triggerId: turn.triggerId,
  });
}

/** Whether an agent chose to say nothing. An empty answer is a choice only where silence was offered. */
export function isSilent(turn: Turn): boolean {
  return spoken(turn).length === 0 && (turn.mayBeSilent || turn.texts.some((text) => text.trim() === SILENT));
}

/** What the agent said to people. */
function spoken(turn: Turn): string[] {
  return turn.texts.filter((text) => text.trim() !== "" && text.trim() !== SILENT);
}

/** What the agent is saying now and has not completed; text that may still become the silence is held back. */
export function openTexts(state: ConversationState, turn: Turn): string[] {
  if (turn.phase !== "sampling" || state.live.step !== presentAttempt(turn)) return [];
  return state.live.items.filter((item) => item.kind === "text" && !SILENT.startsWith(item.text.trim()))
    .map((item) => item.text);
}

function textSoFar(state: ConversationState, turn: Turn): string {
  return [...spoken(turn), ...openTexts(state, turn)].join("\n\n");
}

function statusLine(turn: Turn, now: number): string {
  if (turn.phase === "sampling" && turn.retryAt !== undefined && turn.retryAt > now) {
    return status.reconnecting(turn.retries, MAX_RETRIES);
  }
  if (turn.phase !== "executing") return status.thinking;
  const waiting = turn.calls.find((call) => call.state === "waiting");
  if (waiting) return waiting.waitsFor === "answer" ? status.answer : status.approval(waiting.tool);
  const running = openCalls(turn)[0];
  return running ? status.running(running.tool) : status.thinking;
}
