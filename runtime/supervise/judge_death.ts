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
  /** Every occupant may be guilty, busy or not: somebody touched the link behind its actor's back. */
  readonly anyone?: boolean | undefined;
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
  const suspects = death.anyone ? occupants : occupants.filter((occupant) => occupant.busy);
  const guilty = death.suspect ?? onlyOne(suspects, occupants, reason);
  return occupants.map((occupant): Verdict => {
    const { slot } = occupant;
    if (slot === guilty) return { slot, reason, detail, suspect: true, group: 0 };
    const lost = { slot, reason: "lost", detail: `its host ended: ${detail}`, suspect: false } as const;
    const place = suspects.indexOf(occupant);
    if (guilty !== undefined || place < 0) return lost;
    return { ...lost, group: place * 2 < suspects.length ? 0 : 1 };
  });
}

/** A full heap is the fault of the only one that was busy; any other end says nothing about a Worker that did not live alone. */
function onlyOne(
  suspects: readonly Occupant[],
  occupants: readonly Occupant[],
  reason: DownReason,
): number | undefined {
  const [only, second] = suspects;
  if (!only || second) return undefined;
  return reason === "oom" || occupants.length === 1 ? only.slot : undefined;
}

/** Exit code of a child whose link carried something that is no frame of its supervisor, or could not be made. */
export const EXIT_BAD_LINK = 76;

/** How a process ended. */
export interface ProcessEnd {
  readonly code: number;
  readonly signal: string | null;
  readonly badFrame: boolean;
}

/** Reads a process's end that this supervisor did not order. V8 ends a process whose heap is full with SIGTRAP or SIGABRT. */
export function readEnd(end: ProcessEnd): HostDeath {
  const detail = end.signal === null ? `exit code ${end.code}` : `signal ${end.signal}`;
  if (end.badFrame) return { reason: "killed", detail: "somebody else wrote into its link", anyone: true };
  if (end.code === EXIT_BAD_LINK) {
    return { reason: "exit", detail: "somebody else read from its link", anyone: true };
  }
  if (end.signal === "SIGTRAP" || end.signal === "SIGABRT" || end.code === 133 || end.code === 134) {
    return { reason: "oom", detail };
  }
  return { reason: end.signal === null ? "exit" : "killed", detail };
}
