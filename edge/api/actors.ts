/**
 * The supervision tree, and commands to actors. Part of `edge/api.ts`.
 */
import * as z from "zod";

export const DownReason = z.enum(["error", "exit", "hang", "oom", "killed", "lost", "shutdown"]);
export type DownReason = z.infer<typeof DownReason>;

export const ActorView = z.object({
  ref: z.string(),
  kind: z.string(),
  state: z.enum(["sleeping", "starting", "live", "parked"]),
  /** Name of the host process it runs in; absent while it sleeps. */
  host: z.string().optional(),
  pid: z.int().optional(),
  incarnation: z.int().optional(),
  /** Proportional memory of its process, mebibytes. */
  pssMb: z.number().optional(),
  /** Heap that its isolate uses, mebibytes. */
  heapMb: z.number().optional(),
  /** The message it is at; `ms` since it was handed over. */
  currentMessage: z.object({ id: z.string(), type: z.string(), ms: z.int() }).optional(),
  mailbox: z.object({ control: z.int(), normal: z.int(), oldestMs: z.int() }),
  restarts: z.int(),
  lastDown: z.object({ reason: DownReason, detail: z.string().optional(), at: z.int() }).optional(),
  parkedReason: z.string().optional(),
  /** A gateway that sleeps or starts because nobody needed it. */
  onDemand: z.literal(true).optional(),
  /** The title of a conversation. */
  title: z.string().optional(),
});
export type ActorView = z.infer<typeof ActorView>;

/** `GET /api/actors`. `source: "rows"` means that the edge does not share a process with the supervisor: hosts are unknown. */
export const ActorList = z.object({
  actors: z.array(ActorView),
  source: z.enum(["live", "rows"]),
  supervisor: z.object({ away: z.boolean(), holder: z.string().optional(), expiresAt: z.int().optional() }),
});
export type ActorList = z.infer<typeof ActorList>;

/** 202 of a command that only the supervisor or approval can carry out. */
export const CommandAccepted = z.object({ command: z.string() });
export type CommandAccepted = z.infer<typeof CommandAccepted>;

/** 200 of a policy command that approval carried out within five seconds. */
export const CommandDone = z.object({ command: z.string(), id: z.string().optional() });
export type CommandDone = z.infer<typeof CommandDone>;

/** `GET /api/commands/:id`: how a 202 ended. */
export const CommandStatus = z.object({
  command: z.string(),
  state: z.enum(["pending", "done", "failed"]),
  id: z.string().optional(),
  error: z.object({ code: z.string(), message: z.string() }).optional(),
});
export type CommandStatus = z.infer<typeof CommandStatus>;
