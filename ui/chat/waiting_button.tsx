/**
 * "Waits for you" in the head of a chat: leads to the card that waits, however much was written below it. Proven by `tests/browser/decide_test.ts`.
 */
import type { Transcript } from "../../lib/transcript_view.ts";
import { strings } from "../strings.ts";

/** Where the transcript puts what waits: the card, else the link to it. */
const WAITING = '.chat-log .call[data-state="waiting"] :is(article, .call-link)';

/** The words; a button once the waiting call is on the page. */
export function WaitingButton({ transcript }: { readonly transcript: Transcript }) {
  const words = strings.chats.status.waiting;
  const isHere = transcript.entries.some((entry) =>
    entry.kind === "turn" && entry.items.some((item) => item.kind === "call" && item.state === "waiting")
  );
  if (!isHere) return <>{words}</>;
  return (
    <button type="button" class="to-waiting" title={strings.chat.toWaiting} onClick={showWaiting}>
      {words}
    </button>
  );
}

function showWaiting(): void {
  const waiting = document.querySelector<HTMLElement>(WAITING);
  waiting?.focus({ preventScroll: true });
  waiting?.scrollIntoView({ block: "start" });
}
