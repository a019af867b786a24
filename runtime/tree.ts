/** The supervision tree as people see it: one view for each actor, as the HTTP API shows it. */
import type { LastDown } from "./supervise/actor_record.ts";
import type { MailboxDepth } from "./mail/mailbox.ts";

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
  readonly mailbox: MailboxDepth;
  readonly restarts: number;
  readonly lastDown?: LastDown | undefined;
  readonly parkedReason?: string | undefined;
}

/** What an operator should hear of. */
export type Note =
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
