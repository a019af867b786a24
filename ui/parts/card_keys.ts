/**
 * Keys for who decides at a desk: j and k walk over the cards, and letters press the button of the focused card that carries them. Nothing happens without
 * a focused card, inside a text box, or with a modifier held. Proven by `tests/browser/inbox_test.ts`.
 */

/** Letters and what they press; buttons carry them as `data-key`. */
export const cardKeys = { allow: "a", session: "s", reject: "r", edit: "e" } as const;

/** Handles a key press on the list of cards. */
export function onCardKey(event: KeyboardEvent, list: HTMLElement): void {
  if (event.metaKey || event.ctrlKey || event.altKey || event.isComposing) return;
  const target = event.target instanceof Element ? event.target : undefined;
  if (target?.closest("input, textarea")) return;
  const cards = [...list.querySelectorAll<HTMLElement>("article")];
  const at = cards.findIndex((card) => card.contains(document.activeElement));
  if (event.key === "j" || event.key === "k") {
    const next = cards[event.key === "j" ? at + 1 : Math.max(0, at - 1)];
    next?.focus();
    next?.scrollIntoView({ block: "nearest" });
  } else if (at >= 0 && Object.values<string>(cardKeys).includes(event.key)) {
    cards[at]?.querySelector<HTMLButtonElement>(`[data-key="${event.key}"]:not(:disabled)`)?.click();
    event.preventDefault();
  }
}
