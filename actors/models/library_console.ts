/**
 * Takes the console away from the provider libraries.
 *
 * They print whole stream events when one cannot be parsed; model text does not belong in a log, and a gateway's stdout
 * is its link. What they say becomes a log message of its first argument only, if that is text. Proved by
 * `gateway_test.ts`.
 */

import type { GatewayContext } from "../../runtime/actor.ts";

const LEVELS = { debug: "debug", log: "info", info: "info", warn: "warn", error: "error" } as const;
const MAX_CHARS = 120;

/** The part of the console that libraries use. */
export type LibraryConsole = Record<keyof typeof LEVELS, (...args: unknown[]) => void>;

/** Replaces the methods of `target` for good. */
export function takeConsole(target: LibraryConsole, log: GatewayContext["log"]): void {
  for (const [method, level] of Object.entries(LEVELS)) {
    const say = (...args: unknown[]) => {
      const [first] = args;
      log(level, `library: ${typeof first === "string" ? first.slice(0, MAX_CHARS) : "(no text)"}`);
    };
    Object.assign(target, { [method]: say });
  }
}
