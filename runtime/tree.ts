/** The supervision tree as people see it: one view for each actor, as the HTTP API shows it. */
import type { LastDown } from "./supervise/actor_record.ts";
import type { MailboxDepth } from "./mail/mailbox.ts";

/** The message that an actor is at. `ms`: since it was handed over. */
export interface CurrentMessage {
  readonly id: string;
  readonly type: string;
  readonly ms: number;
}

/** What an actor is doing. */
export type ActorState = "sleeping" | "starting" | "live" | "parked";

/** One actor. */
export interface ActorView {
  readonly ref: string;
  readonly kind: string;
  readonly state: ActorState;
  readonly incarnation: number;
  readonly host?: string | undefined;
  readonly pid?: number | undefined;
  /** Proportional memory of its process, mebibytes, where somebody measures it. */
  readonly pssMb?: number | undefined;
  /** Heap that its isolate uses, mebibytes, as it said last. */
  readonly heapMb?: number | undefined;
  readonly mailbox: MailboxDepth;
  readonly currentMessage?: CurrentMessage | undefined;
  readonly restarts: number;
  readonly lastDown?: LastDown | undefined;
  readonly parkedReason?: string | undefined;
  /** A gateway that sleeps or starts because nobody needed it: that it does not live is no fault. */
  readonly onDemand?: true | undefined;
}

/** Bytes as mebibytes with one digit. */
export function mebibytes(bytes: number | undefined): number | undefined {
  return bytes === undefined ? undefined : Math.round(bytes / 2 ** 20 * 10) / 10;
}

/** What an operator should hear of. */
export type Note =
  | {
    readonly type: "held";
    readonly ref: string;
    readonly messageType: string;
    readonly reason: string;
    /** When the hold began, milliseconds since the epoch. */
    readonly since: number;
  }
  | { readonly type: "parked"; readonly ref: string; readonly reason: string }
  | {
    readonly type: "poison";
    readonly ref: string;
    readonly from: string;
    readonly message: string;
    readonly messageType: string;
    readonly detail: string;
  }
  | {
    readonly type: "refused";
    readonly from: string;
    readonly to: string;
    readonly messageType: string;
    readonly code: string;
    readonly message: string;
  };
