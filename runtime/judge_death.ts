/**
 * Whose fault the death of a pure host was. Pure. Promises: every Worker of the host gets exactly one verdict; only a suspect is punished;
 * where several could be guilty they are split over two quarantine groups, so that repeated deaths end with one. Proven by `policy_test.ts`.
 */

/** Why an incarnation ended. */
export type DownReason = "error" | "exit" | "hang" | "oom" | "killed" | "lost" | "shutdown";

/** What is known of a host's end. `suspect` is the slot on whose account the supervisor killed it. */
export interface HostDeath {
  readonly reason: Exclude<DownReason, "error" | "lost">;
  readonly detail: string;
  readonly suspect?: number | undefined;
}

/** A Worker that lived there; `busy` when it had a message in hand. */
export interface Occupant {
  readonly slot: number;
  readonly busy: boolean;
}

/** What one Worker's actor is told. `group`: 0 or 1 when it must next live apart from the unsuspected. */
export interface Verdict {
  readonly slot: number;
  readonly reason: DownReason;
  readonly detail: string;
  readonly suspect: boolean;
  readonly group?: 0 | 1 | undefined;
}

/** Judges the death of a host with these occupants. */
export function judgeDeath(death: HostDeath, occupants: readonly Occupant[]): Verdict[] {
  const { reason, detail } = death;
  if (reason === "shutdown") return occupants.map(({ slot }) => ({ slot, reason, detail, suspect: false }));
  const busy = occupants.filter((occupant) => occupant.busy);
  const guilty = death.suspect ?? onlyOne(busy, occupants, reason);
  return occupants.map((occupant): Verdict => {
    const { slot } = occupant;
    if (slot === guilty) return { slot, reason, detail, suspect: true, group: 0 };
    const lost = { slot, reason: "lost", detail: `its host ended: ${detail}`, suspect: false } as const;
    if (guilty !== undefined || !occupant.busy) return lost;
    return { ...lost, group: busy.indexOf(occupant) * 2 < busy.length ? 0 : 1 };
  });
}

/** A SIGKILL from outside blames a Worker only where it lived alone. */
function onlyOne(
  busy: readonly Occupant[],
  occupants: readonly Occupant[],
  reason: DownReason,
): number | undefined {
  const [only, second] = busy;
  if (!only || second) return undefined;
  return reason === "killed" && occupants.length > 1 ? undefined : only.slot;
}

/** How a process ended. `killedBy` is set when this supervisor killed it. */
export interface ProcessEnd {
  readonly code: number;
  readonly signal: string | null;
  readonly badFrame: boolean;
}

/** Reads a process's end that this supervisor did not order. V8 ends a process whose heap is full with SIGTRAP or SIGABRT. */
export function readEnd(end: ProcessEnd): HostDeath {
  const detail = end.signal === null ? `exit code ${end.code}` : `signal ${end.signal}`;
  if (end.badFrame) return { reason: "killed", detail: "somebody else wrote into its link" };
  if (end.signal === "SIGTRAP" || end.signal === "SIGABRT" || end.code === 133 || end.code === 134) {
    return { reason: "oom", detail };
  }
  return { reason: end.signal === null ? "exit" : "killed", detail };
}
