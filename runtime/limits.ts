/**
 * Every number that the runtime runs by, in one place, so that a test can make time short. Durations are milliseconds.
 */

/** How a crashed actor is started again. */
export interface RestartLimits {
  /** More crashes than this within `windowMs` park the actor. */
  readonly intensity: number;
  readonly windowMs: number;
  readonly baseMs: number;
  readonly capMs: number;
}

/** The runtime's numbers. */
export interface Limits {
  /** A conversation without work sleeps after this time. */
  readonly idleMs: number;
  /** A process that nobody has needed for this time ends: a gateway on demand, and the last host of sleeping kinds. */
  readonly restMs: number;
  /** Live sleeping kinds at once; above it the least recently used idle one sleeps. */
  readonly maxLive: number;
  /** Live sleeping kinds that may be starting at once; when many wake, the others wait for one of these. */
  readonly starting: number;
  readonly workersPerHost: number;
  /** Heap of each isolate of a pure host. */
  readonly heapMb: number;
  /** Resident memory at which a pure host is killed. */
  readonly hostMemoryMb: number;
  /** A Worker or host that does not beat for this long hangs; beats come once a second. */
  readonly hangMs: number;
  /** The same for gateways, which may have to compute. */
  readonly gatewayHangMs: number;
  /** How long a new Worker or process may take to say ready. */
  readonly startMs: number;
  readonly tickMs: number;
  /** Queued normal messages of one actor, or of one key of a gateway. */
  readonly mailbox: number;
  /** Messages in the hands of one pure actor. */
  readonly window: number;
  /** Messages in the hands of one gateway, in all and of one key. */
  readonly gatewayWindow: number;
  readonly keyWindow: number;
  readonly pollWaitingMs: number;
  readonly pollIdleMs: number;
  /** Failures of one message after which it goes to the dead letters. */
  readonly poisonAfter: number;
  readonly restart: RestartLimits;
  /** Taken off the lease's remaining time before a gateway is told of it. */
  readonly leaseMarginMs: number;
}

/** The numbers of a small server. */
export const defaultLimits: Limits = {
  idleMs: 60_000,
  restMs: 600_000,
  maxLive: 100,
  starting: 8,
  workersPerHost: 32,
  heapMb: 256,
  hostMemoryMb: 2_048,
  hangMs: 5_000,
  gatewayHangMs: 15_000,
  startMs: 20_000,
  tickMs: 500,
  mailbox: 1_000,
  window: 64,
  gatewayWindow: 256,
  keyWindow: 16,
  pollWaitingMs: 1_000,
  pollIdleMs: 5_000,
  poisonAfter: 3,
  restart: { intensity: 5, windowMs: 60_000, baseMs: 100, capMs: 30_000 },
  leaseMarginMs: 2_000,
};
