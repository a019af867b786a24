/**
 * Ages and countdowns. Each is a component of its own, so that the ticking clock draws only them anew.
 */
import { strings } from "../strings.ts";
import { ageOf, leftOf, momentOf } from "../render/time.ts";
import { useApp } from "./use_app.ts";

/** How long ago; the exact moment is its title. */
export function Age({ at, asked = false }: { readonly at: number; readonly asked?: boolean }) {
  const age = ageOf(at, useApp().now.value);
  return (
    <time dateTime={new Date(at).toISOString()} title={momentOf(at)}>
      {asked ? strings.inbox.asked(age) : age}
    </time>
  );
}

/** Time that is left; marked when it is short. */
export function Countdown({ until }: { readonly until: number }) {
  const now = useApp().now.value;
  const isShort = until - now < 2 * 60_000;
  return (
    <time
      class={isShort ? "countdown short" : "countdown"}
      dateTime={new Date(until).toISOString()}
      title={momentOf(until)}
    >
      {until <= now ? strings.inbox.expiringNow : strings.inbox.expiresIn(leftOf(until, now))}
    </time>
  );
}
