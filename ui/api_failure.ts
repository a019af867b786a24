/**
 * The one failure that calls of the page end in. A file of its own, so that what makes one need not know the client.
 */
import type { Item } from "../edge/api.ts";

/** A call that did not succeed. `status` is 0 when no answer came; `item` is the winner of a decision that came too late. */
export class ApiFailure extends Error {
  override readonly name = "ApiFailure";
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly item?: Item | undefined,
  ) {
    super(message);
  }
}
