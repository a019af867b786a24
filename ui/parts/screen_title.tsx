/**
 * The head of a screen: its name, a line below it, and what can be done with the whole screen.
 */
import type { ComponentChildren } from "preact";

interface ScreenTitleProps {
  readonly title: string;
  readonly note?: ComponentChildren;
  readonly children?: ComponentChildren;
}

/** Title row. */
export function ScreenTitle({ title, note, children }: ScreenTitleProps) {
  return (
    <div class="screen-title">
      <div>
        <h1>{title}</h1>
        {note !== undefined && <p class="screen-note" aria-live="polite">{note}</p>}
      </div>
      {children}
    </div>
  );
}
