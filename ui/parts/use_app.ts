/**
 * How components reach the stores. One context, set once by `main.tsx` or by a test.
 */
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import { type PolicyPage, policyPages } from "../router.ts";
import type { App } from "../store/app.ts";

/** Holds the stores. */
export const AppContext = createContext<App | undefined>(undefined);

/** The stores. Throws outside the context: a mistake of the programmer. */
export function useApp(): App {
  const app = useContext(AppContext);
  if (app === undefined) throw new TypeError("useApp: there is no AppContext above this component");
  return app;
}

/** Whether the person may decide, write and stop. The server has the last word; this only hides what it would refuse. */
export function mayAct(app: App): boolean {
  const role = app.session.me.value?.user.role;
  return role === "owner" || role === "approver";
}

/** Whether the person is the owner. */
export function isOwner(app: App): boolean {
  return app.session.me.value?.user.role === "owner";
}

/** The screens about policy that the person may see: rules are for who decides, the log is the owner's. */
export function pagesFor(app: App): PolicyPage[] {
  return policyPages.filter((page) => {
    if (page === "audit") return isOwner(app);
    return page === "bypasses" || page === "schedules" || mayAct(app);
  });
}
