/** What every supervised actor's cell needs of the runtime around it. Only types: `runtime.ts` makes it. */
import type { Clock } from "../../lib/clock.ts";
import type { Db } from "../../store/db.ts";
import type { CommitBuilder } from "../mail/commit_builder.ts";
import type { Commits } from "../mail/commits.ts";
import type { EnvelopeParts } from "../mail/mail.ts";
import type { Heartbeats } from "./heartbeats.ts";
import type { HostPool } from "./host_pool.ts";
import type { Limits } from "../limits.ts";
import type { Log } from "../log.ts";
import type { Meter } from "../meter.ts";
import type { MailRoom } from "../mail/mail_room.ts";
import type { OpenLink, ProcessSpec } from "../link/process_link.ts";
import type { ActorView, Note } from "../tree.ts";
import type { GatewayKind, RunRead } from "../vocabulary.ts";

/** The runtime, seen from a cell. */
export interface Kernel {
  readonly limits: Limits;
  readonly clock: Clock;
  readonly newId: () => string;
  readonly random: () => number;
  readonly log: Log;
  readonly meter: Meter;
  readonly db: Db;
  readonly room: MailRoom;
  readonly commits: Commits;
  readonly builder: CommitBuilder;
  readonly pool: HostPool;
  readonly heartbeats: Heartbeats;
  readonly openLink: OpenLink;
  readonly runRead: RunRead;
  load(kind: string, id: string): Promise<unknown>;
  gatewaySpec(kind: GatewayKind): ProcessSpec;
  /** How long effects may begin, in milliseconds, or Infinity without a lease. */
  leaseMs(): number;
  /** Asks for one more live conversation; false: the cell is called again when there is room. */
  admit(cell: Cell): boolean;
  /** Something about this actor changed. */
  changed(ref: string): void;
  note(note: Note): void;
}

/** One supervised actor. */
export interface Cell {
  readonly ref: string;
  /** Begins what its mailbox and state allow. Idempotent; called on every event. */
  pump(): void;
  /** A message that is no row; dropped when nobody lives to hear it. */
  ephemeral(message: EnvelopeParts): void;
  /** A message in its hands was withdrawn by a newer one. */
  withdraw(id: string): void;
  /** Called once a tick. */
  tick(now: number): void;
  /** A person's wish: un-parks, or kills and starts again. */
  restart(): void;
  /** Ends it; resolves when its incarnation is over and written down. */
  stop(graceMs: number): Promise<void>;
  view(now: number): ActorView;
}
