/**
 * Counts answers by method and class of status, for the metrics page. Knows no paths: ids in them would make endless series.
 */
import type { MiddlewareHandler } from "hono";
import type { Sample } from "../lib/metrics.ts";
import type { EdgeEnv } from "./deps.ts";

/** See the file's comment. */
export class RequestCounter {
  readonly #counts = new Map<string, { readonly method: string; readonly status: string; value: number }>();

  /** Counts every answer that passes. */
  middleware(): MiddlewareHandler<EdgeEnv> {
    return async (c, next) => {
      await next();
      this.#count(c.req.method, `${Math.floor(c.res.status / 100)}xx`);
    };
  }

  /** What was counted since the start. */
  samples(): Sample[] {
    return [...this.#counts.values()].map(({ method, status, value }) => ({
      labels: { method, status },
      value,
    }));
  }

  #count(method: string, status: string): void {
    const known = ["DELETE", "GET", "HEAD", "POST"].includes(method) ? method : "other";
    const key = `${known} ${status}`;
    const count = this.#counts.get(key) ?? { method: known, status, value: 0 };
    count.value++;
    this.#counts.set(key, count);
  }
}
