/** Names and titles as they may stand on a lock screen. Pure. Proven by `gateway_test.ts`. */
import { printableLine } from "../../lib/printable.ts";

const MAX_CHARACTERS = 120;

/** One line, with everything in it visible, and not longer than one is read. */
export function noticeText(text: string): string {
  const shown = [...printableLine(text)];
  return shown.length > MAX_CHARACTERS ? `${shown.slice(0, MAX_CHARACTERS - 1).join("")}…` : shown.join("");
}
