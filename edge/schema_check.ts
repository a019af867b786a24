/**
 * Whether the database fits this build, remembered for a while: an edge may be older or newer than the supervisor that migrates. While it does
 * not fit, the API answers 503 `schema_mismatch`. Proven by `edge/app_test.ts`.
 */
import type { MiddlewareHandler } from "hono";
import type { Clock } from "../lib/clock.ts";
import type { Result } from "../lib/result.ts";
import type { EdgeEnv } from "./deps.ts";
import { refuse } from "./errors.ts";

const FITS_FOR_MS = 30_000;

/** See the file's comment. */
export class SchemaCheck {
  readonly #clock: Clock;
  readonly #look: () => Promise<Result<unknown>>;
  #fitsUntil = 0;

  constructor(clock: Clock, look: () => Promise<Result<unknown>>) {
    this.#clock = clock;
    this.#look = look;
  }

  /** Looks again after half a minute, and at once after a mismatch. Rejects with `DbError`. */
  async ask(): Promise<Result<unknown>> {
    if (this.#clock.monotonic() < this.#fitsUntil) return { ok: true, value: undefined };
    const result = await this.#look();
    if (result.ok) this.#fitsUntil = this.#clock.monotonic() + FITS_FOR_MS;
    return result;
  }

  /** Refuses requests while the database does not fit. */
  middleware(): MiddlewareHandler<EdgeEnv> {
    return async (_c, next) => {
      const result = await this.ask();
      if (!result.ok) refuse(result.error);
      await next();
    };
  }
}
