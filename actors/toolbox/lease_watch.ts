/** Whether the lease still holds while a call runs. Proven by `gateway_test.ts`. */
import type { Clock } from "../../lib/clock.ts";
import type { GatewayContext } from "../../runtime/actor.ts";

/** How often a running call asks whether it may go on; well below the lease's margin. */
const LOOK_AT_LEASE_MS = 250;

/** Aborts once the lease may have passed on: whoever holds it next calls the outcome unknown, so nothing may go on by then. */
export function watchLease(
  context: Pick<GatewayContext, "mayAct">,
  clock: Clock,
): { signal: AbortSignal; stop: () => void } {
  const passed = new AbortController();
  let cancel = () => {};
  const look = () => {
    if (!context.mayAct()) {
      return passed.abort(new DOMException("the lease may have passed on", "AbortError"));
    }
    cancel = clock.after(LOOK_AT_LEASE_MS, look);
  };
  cancel = clock.after(LOOK_AT_LEASE_MS, look);
  return { signal: passed.signal, stop: () => cancel() };
}
