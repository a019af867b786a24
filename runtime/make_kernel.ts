/**
 * Puts the runtime's parts together: mailboxes, commits, hosts, heartbeats, and what each needs of the others. It decides nothing; what
 * concerns an actor goes to the tree. Proven by everything that runs a runtime.
 */
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { toEnvelope } from "./envelope.ts";
import { defaultLimits, type Limits } from "./limits.ts";
import { openProcessLink, type ProcessSpec } from "./link/process_link.ts";
import { type ChildOptions, gatewayProcess, hostSpec } from "./link/process_spec.ts";
import { CommitBuilder } from "./mail/commit_builder.ts";
import { Commits } from "./mail/commits.ts";
import { deadLetter } from "./mail/dead_letter.ts";
import type { EnvelopeParts } from "./mail/mail.ts";
import { MailRoom } from "./mail/mail_room.ts";
import { Meter } from "./meter.ts";
import type { RuntimeOptions } from "./options.ts";
import { Heartbeats } from "./supervise/heartbeats.ts";
import { HostPool } from "./supervise/host_pool.ts";
import type { Cell, Kernel } from "./supervise/kernel.ts";
import { Tracing } from "./tracing.ts";
import type { GatewayKind } from "./vocabulary.ts";

/** What the parts tell the tree of actors. */
export interface KernelTree {
  /** There is mail for this ref. */
  dispatch(ref: string): void;
  withdraw(ref: string, id: string): void;
  ephemeral(message: EnvelopeParts & { readonly to: string }): void;
  admit(cell: Cell): boolean;
  changed(ref: string): void;
  tick(): void;
}

/** What the command lines of child processes depend on. */
export type ProcessOptions = Pick<RuntimeOptions, "denoConfig" | "childEnv" | "limits" | "kinds">;

/** The process of every pure host of a runtime with these options. */
export function pureHostSpec(options: ProcessOptions): ProcessSpec {
  const folders = options.kinds.flatMap((kind) => kind.mode === "pure" ? [dirname(kind.entry)] : []);
  const entry = fileURLToPath(new URL("./host.ts", import.meta.url));
  return hostSpec(entry, { ...childOptions(options), read: [...new Set(folders)] });
}

function childOptions({ denoConfig, childEnv, limits }: ProcessOptions): ChildOptions {
  return { config: denoConfig, env: childEnv ?? {}, heapMb: limits?.heapMb ?? defaultLimits.heapMb };
}

/** Makes the parts and connects them. Nothing of it runs yet. */
export function makeKernel(options: RuntimeOptions, tree: KernelTree): Kernel {
  const { store, vocabulary, opStatements, runRead, clock, newId, random, log } = options;
  const limits: Limits = { ...defaultLimits, ...options.limits };
  const isGateway = new Set(options.kinds.filter(({ mode }) => mode === "gateway").map(({ kind }) => kind));
  const meter = new Meter();
  const tracing = options.tracer && new Tracing(options.tracer);
  const openLink = options.openLink ?? openProcessLink;
  const heartbeats = new Heartbeats(clock, limits.tickMs, () => tree.tick());
  const room: MailRoom = new MailRoom({
    db: store,
    clock,
    vocabulary,
    log,
    onMail: (ref) => tree.dispatch(ref),
    onWithdrawn: (mail) => tree.withdraw(mail.to, mail.id),
    onRefused: (mail, error) => deadLetter(kernel, mail, error),
    onHeld: ({ to, type }, { reason, since }) =>
      options.onNote({ type: "held", ref: to, messageType: type, reason, since }),
    watcher: tracing,
  });
  const commits: Commits = new Commits({
    store,
    room,
    clock,
    bound: limits.mailbox,
    perKey: (to) => isGateway.has(vocabulary.kindOf(to) ?? ""),
    onEphemeral: ({ payload, ...message }) =>
      tree.ephemeral({ ...message, payload: JSON.stringify(payload) }),
    onEdge: (message, durable) => options.onEdge(toEnvelope(message, durable)),
    onRefused: ({ type, ...refused }) => options.onNote({ ...refused, type: "refused", messageType: type }),
    meter,
    tracing,
  });
  const reserve = (to: string, key: string) => commits.reserve(to, key);
  const builder = new CommitBuilder({
    vocabulary,
    opStatements,
    now: () => clock.now(),
    newId,
    reserve,
    tracing,
  });
  const child = childOptions(options);
  const pool = new HostPool({ openLink, spec: pureHostSpec(options), limits, heartbeats, clock, log });
  const kernel: Kernel = {
    limits,
    clock,
    newId,
    random,
    log,
    meter,
    db: store,
    room,
    commits,
    builder,
    pool,
    heartbeats,
    openLink,
    runRead,
    load: async (kind, id) => await options.loads[kind]?.(store, id) ?? null,
    gatewaySpec: (kind: GatewayKind) => gatewayProcess(kind, { ...child, heapMb: limits.heapMb * 4 }),
    leaseMs: options.leaseMs ?? (() => Infinity),
    admit: (cell) => tree.admit(cell),
    changed: (ref) => tree.changed(ref),
    note: (note) => options.onNote(note),
  };
  return kernel;
}
