/**
 * How components reach the stores. One context, set once by `main.tsx` or by a test.
 */
import { createContext } from "preact";
import { useContext } from "preact/hooks";
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
