/**
 * The supervision tree as last told, and restarts asked for from this page. Stream events replace one actor at a time; the incarnation keeps an
 * old one from undoing a new one. Proven by `store_test.ts`.
 */
import { type ReadonlySignal, signal } from "@preact/signals";
import type { ActorList, ActorView } from "../../edge/api.ts";
import { type Api, sentenceOf } from "../api.ts";

type Known = ReadonlyMap<string, ActorView>;

/** The map with `actor` in it, unless a later incarnation is known. */
export function mergeActor(known: Known, actor: ActorView): Known {
  const old = known.get(actor.ref);
  if (old && (actor.incarnation ?? Infinity) < (old.incarnation ?? 0)) return known;
  return new Map(known).set(actor.ref, actor);
}

/** Where an actor stands in the tree. */
export interface ActorGroup {
  readonly name: "singletons" | "conversations";
  readonly actors: readonly ActorView[];
}

const STATE_FIRST = { parked: 0, live: 1, starting: 2, sleeping: 3 } as const;

/** The tree: the singletons by name, then the conversations, those that need a look first. */
export function groupActors(actors: Iterable<ActorView>): ActorGroup[] {
  const all = [...actors];
  const singletons = all.filter((actor) => actor.kind !== "conversation")
    .sort((a, b) => a.ref.localeCompare(b.ref));
  const conversations = all.filter((actor) => actor.kind === "conversation").sort((a, b) =>
    STATE_FIRST[a.state] - STATE_FIRST[b.state] || b.mailbox.normal - a.mailbox.normal ||
    (a.title ?? a.ref).localeCompare(b.title ?? b.ref)
  );
  return [{ name: "singletons", actors: singletons }, { name: "conversations", actors: conversations }];
}

/** The actors. */
export interface ActorsStore {
  readonly actors: ReadonlySignal<Known>;
  readonly source: ReadonlySignal<ActorList["source"]>;
  readonly supervisor: ReadonlySignal<ActorList["supervisor"] | undefined>;
  readonly loaded: ReadonlySignal<boolean>;
  readonly error: ReadonlySignal<string | undefined>;
  /** Refs whose restart was asked for and not seen yet. */
  readonly restarting: ReadonlySignal<ReadonlySet<string>>;
  load(): Promise<void>;
  /** Undefined: the edge only knows that it changed; the tree is read again. */
  receive(ref: string, actor: ActorView | undefined): void;
  restart(ref: string): Promise<void>;
  clear(): void;
}

/** Builds the store. */
export function createActors(api: Api): ActorsStore {
  const actors = signal<Known>(new Map());
  const source = signal<ActorList["source"]>("live");
  const supervisor = signal<ActorList["supervisor"] | undefined>(undefined);
  const loaded = signal(false);
  const error = signal<string | undefined>(undefined);
  const restarting = signal<ReadonlySet<string>>(new Set());
  let reading = false;

  function noteRestart(ref: string, pending: boolean): void {
    const next = new Set(restarting.peek());
    if (pending) next.add(ref);
    else next.delete(ref);
    restarting.value = next;
  }

  async function load(): Promise<void> {
    if (reading) return;
    reading = true;
    try {
      const list = await api.actors();
      actors.value = new Map(list.actors.map((actor) => [actor.ref, actor]));
      source.value = list.source;
      supervisor.value = list.supervisor;
      loaded.value = true;
      error.value = undefined;
    } catch (failure) {
      error.value = sentenceOf(failure);
    } finally {
      reading = false;
    }
  }

  return {
    actors,
    source,
    supervisor,
    loaded,
    error,
    restarting,
    load,
    receive(ref, actor) {
      noteRestart(ref, false);
      if (actor) actors.value = mergeActor(actors.peek(), actor);
      else if (loaded.peek()) void load();
    },
    async restart(ref) {
      noteRestart(ref, true);
      try {
        await api.restart(ref);
      } catch (failure) {
        noteRestart(ref, false);
        error.value = sentenceOf(failure);
      }
    },
    clear() {
      actors.value = new Map();
      loaded.value = false;
      error.value = undefined;
      restarting.value = new Set();
    },
  };
}
