/**
 * Light, dark, or as the device says. The choice is an attribute of the root element that the style sheet reads, and is remembered on this device
 * only. Proven by `store_test.ts`.
 */
import { type ReadonlySignal, signal } from "@preact/signals";

/** What a person can choose. */
export type Theme = "system" | "light" | "dark";

/** Every choice, in the order in which they are shown. */
export const themes: readonly Theme[] = ["system", "light", "dark"];

/** What the theme needs of the page. */
export interface ThemeHost {
  readonly storage: Pick<Storage, "getItem" | "setItem">;
  readonly root: { setAttribute(name: string, value: string): void; removeAttribute(name: string): void };
}

/** The theme. */
export interface ThemeStore {
  readonly theme: ReadonlySignal<Theme>;
  choose(theme: Theme): void;
}

const KEY = "callboard.theme";

/** Builds the store and applies what was chosen before. */
export function createTheme({ storage, root }: ThemeHost): ThemeStore {
  const theme = signal<Theme>(themes.find((known) => known === storage.getItem(KEY)) ?? "system");

  function apply(): void {
    if (theme.peek() === "system") root.removeAttribute("data-theme");
    else root.setAttribute("data-theme", theme.peek());
  }
  apply();

  return {
    theme,
    choose(next) {
      theme.value = next;
      storage.setItem(KEY, next);
      apply();
    },
  };
}
