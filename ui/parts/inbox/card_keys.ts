/**
 * Keys for who decides at a desk: j and k walk over the cards, letters press the button of the focused card that carries them, o and Enter open the card
 * alone, and ? tells all of this. No key decides without a focused card, inside a text field, or with a modifier held. Proven by
 * `tests/browser/inbox_test.ts` and `tests/browser/bulk_test.ts`.
 */

/** Letters and what they press; controls carry them as `data-key`. */
export const cardKeys = { allow: "a", session: "s", reject: "r", edit: "e", select: "x" } as const;

/** What the keys do beyond the cards. */
export interface KeyActions {
  readonly open: (itemId: string) => void;
  readonly help: () => void;
}

/** Handles a key press on the list of cards. */
export function onCardKey(event: KeyboardEvent, list: HTMLElement, { open, help }: KeyActions): void {
  if (event.metaKey || event.ctrlKey || event.altKey || event.isComposing) return;
  const target = event.target instanceof Element ? event.target : undefined;
  if (target?.closest("input:not([type=checkbox], [type=radio]), textarea, select, dialog")) return;
  if (event.key === "?") {
    event.preventDefault();
    return help();
  }
  const cards = [...list.querySelectorAll<HTMLElement>("article")];
  const at = cards.findIndex((card) => card.contains(document.activeElement));
  const card = cards[at];
  if (event.key === "j" || event.key === "k") {
    const next = cards[event.key === "j" ? at + 1 : Math.max(0, at - 1)];
    next?.focus();
    next?.scrollIntoView({ block: "nearest" });
  } else if (card === undefined) return;
  // Enter on a control of the card is the control's.
  else if (event.key === "o" || event.key === "Enter" && card === document.activeElement) {
    if (card.dataset.item !== undefined) open(card.dataset.item);
    event.preventDefault();
  } else if (Object.values<string>(cardKeys).includes(event.key)) {
    card.querySelector<HTMLElement>(`[data-key="${event.key}"]:not(:disabled)`)?.click();
    event.preventDefault();
  }
}
