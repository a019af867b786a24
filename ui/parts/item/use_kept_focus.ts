/**
 * Keeps the focus where the keyboard is at work: when the control that has it goes away (a form was sent or left), the focus goes to what stood
 * around it instead of to the top of the page; when that goes away too, to the next card, else to what the cards stand in. Proven by `tests/browser/marks_test.ts`.
 */
import type { RefObject } from "preact";
import { useEffect, useRef } from "preact/hooks";

/** A ref whose element, which must be focusable, takes the focus that was lost inside it. */
export function useKeptFocus<Kept extends HTMLElement>(): RefObject<Kept | null> {
  const ref = useRef<Kept>(null);
  useEffect(() => {
    const kept = ref.current;
    if (kept === null) return;
    let within: Element | null = null;
    const note = (event: FocusEvent) => {
      within = event.target instanceof Element && event.target !== kept ? event.target : null;
    };
    // Told after a whole change of the tree: what has just been opened has taken the focus by then.
    const observer = new MutationObserver(() => {
      if (within === null || within.isConnected || document.activeElement !== document.body) return;
      within = null;
      kept.focus({ preventScroll: true });
    });
    // Whoever went elsewhere by themselves is not brought back. What was removed is gone by then, and what was disabled did not send them away.
    const leave = () =>
      queueMicrotask(() => {
        const isLeft = within?.isConnected && !within.matches(":disabled");
        if (isLeft && !kept.contains(document.activeElement)) within = null;
      });
    kept.addEventListener("focusin", note);
    kept.addEventListener("focusout", leave);
    observer.observe(kept, { childList: true, subtree: true });
    return () => {
      const isFocused = kept.contains(document.activeElement) || within !== null;
      if (isFocused) focusAfter(kept);
      kept.removeEventListener("focusin", note);
      kept.removeEventListener("focusout", leave);
      observer.disconnect();
    };
  }, []);
  return ref;
}

/** Once `gone` has left the page, gives a focus that was lost with it to the next card that waits. */
function focusAfter(gone: HTMLElement): void {
  const cards = [...document.querySelectorAll<HTMLElement>("article.item")];
  const at = cards.indexOf(gone);
  const others = [...cards.slice(at + 1), ...cards.slice(0, at)];
  queueMicrotask(() => {
    if (document.activeElement !== document.body) return;
    const next = others.find((card) => card.isConnected && card.dataset.state === "waiting");
    (next ?? document.querySelector<HTMLElement>(".chat-log") ?? document.getElementById("main"))?.focus({
      preventScroll: next === undefined,
    });
  });
}
