/**
 * A link to a screen: a real address, so that it can be copied and opened in a tab, and no page load when it is simply followed.
 */
import type { ComponentChildren } from "preact";
import { isPlainClick, pathOf, type Route } from "../router.ts";
import { useApp } from "./use_app.ts";

interface LinkProps {
  readonly to: Route;
  readonly class?: string;
  readonly current?: boolean;
  readonly label?: string;
  readonly children: ComponentChildren;
}

/** An `a` element that the router follows. */
export function Link({ to, class: className, current, label, children }: LinkProps) {
  const { router } = useApp();
  return (
    <a
      href={pathOf(to)}
      class={className}
      aria-current={current ? "page" : undefined}
      aria-label={label}
      onClick={(event) => {
        if (!isPlainClick(event)) return;
        event.preventDefault();
        router.go(to);
      }}
    >
      {children}
    </a>
  );
}
