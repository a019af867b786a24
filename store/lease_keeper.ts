/**
 * Keeps a lease alive: renews it every third of its life and tells once, through `onLost`, that it is gone. Gone means that another
 * process took it, or that the database could not be asked until the lease had run out. Being stopped for a while is not a loss by
 * itself, nor is a full disk, on which nobody else can take it either: the next renewal decides. `deadline` is what gateways are fenced by.
 * Proven by `store/lease_test.ts`.
 */
import type { Clock } from "../lib/clock.ts";
import type { Db } from "./db.ts";
import { isFull, isPassing, type Lease, renewLease } from "./lease.ts";

/** Why a lease is no longer ours. */
export type LeaseLoss = "taken" | "unreachable";

/** What the keeper needs. */
export interface KeeperOptions {
  readonly clock: Clock;
  /** Called at most once; never after `stop()`. */
  readonly onLost: (loss: LeaseLoss) => void;
}

/** Renews one lease until it is stopped or lost. */
export class LeaseKeeper {
  readonly lease: Lease;
  readonly #db: Db;
  readonly #clock: Clock;
  readonly #onLost: (loss: LeaseLoss) => void;
  #heldUntil: number;
  #cancel: () => void = () => {};
  #stopped = false;
  #renewing: Promise<void> = Promise.resolve();

  /** Starts at once; `lease` must have been taken just now. */
  constructor(db: Db, lease: Lease, options: KeeperOptions) {
    this.#db = db;
    this.lease = lease;
    this.#clock = options.clock;
    this.#onLost = options.onLost;
    this.#heldUntil = options.clock.monotonic() + lease.ttlMs;
    this.#schedule();
  }

  /** Until when (monotonic milliseconds) no other process can hold the lease, counted from before the last renewal was sent. */
  get deadline(): number {
    return this.#heldUntil;
  }

  /** Stops renewing; resolves when no renewal is under way. Does not give the lease back. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancel();
    await this.#renewing;
  }

  #schedule(): void {
    this.#cancel = this.#clock.after(this.lease.ttlMs / 3, () => {
      this.#renewing = this.#renew();
    });
  }

  async #renew(): Promise<void> {
    const askedAt = this.#clock.monotonic();
    let held: boolean | undefined;
    let hopeless = false;
    let full = false;
    try {
      held = await renewLease(this.#db, this.lease);
    } catch (error) {
      full = isFull(error);
      hopeless = !full && !isPassing(error);
    }
    if (this.#stopped) return;
    if (held === true) this.#heldUntil = askedAt + this.lease.ttlMs;
    if (held === false) return this.#lose("taken");
    if (held === undefined && !full && (hopeless || this.#clock.monotonic() >= this.#heldUntil)) {
      return this.#lose("unreachable");
    }
    this.#schedule();
  }

  #lose(loss: LeaseLoss): void {
    this.#stopped = true;
    this.#onLost(loss);
  }
}
