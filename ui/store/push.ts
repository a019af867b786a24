/**
 * Push messages on this device: what is possible, on or off, a test, and that a notification was opened. What the server has and what the browser has
 * must be the same subscription to count as on. Proven by `push_test.ts`.
 */
import { computed, type ReadonlySignal, signal } from "@preact/signals";
import type { PushOutcome, PushState, PushSubscriptionInput } from "../../edge/api.ts";
import { type Api, ApiFailure, sentenceOf } from "../api.ts";
import { pushStrings } from "../strings/push.ts";

/** What the browser can do about push messages. */
export interface PushHost {
  /** `install`: not before the page was put on the home screen. */
  readonly support: "full" | "install" | "none";
  permission(): NotificationPermission;
  /** Asks the person; only in answer to a tap. */
  ask(): Promise<NotificationPermission>;
  /** The address of the subscription that the browser has. */
  endpoint(): Promise<string | undefined>;
  subscribe(publicKey: string): Promise<PushSubscriptionInput>;
  unsubscribe(): Promise<void>;
  /** Closes the notifications whose item is not waiting. */
  keepOnly(isWaiting: (itemId: string) => boolean): Promise<void>;
}

/** What the settings say. */
export type PushStatus = keyof typeof pushStrings.states;

/** The store. */
export interface PushStore {
  readonly status: ReadonlySignal<PushStatus>;
  /** What became of the last message and the last test on this device. */
  readonly last: ReadonlySignal<PushOutcome | undefined>;
  readonly test: ReadonlySignal<PushOutcome | undefined>;
  /** A test was asked for and its outcome is not known yet. */
  readonly isTesting: ReadonlySignal<boolean>;
  readonly busy: ReadonlySignal<boolean>;
  readonly error: ReadonlySignal<string | undefined>;
  load(): Promise<void>;
  turnOn(): Promise<void>;
  turnOff(): Promise<void>;
  sendTest(): Promise<void>;
  /** A notification about the item led here. */
  opened(itemId: string): Promise<void>;
  /** Closes the notifications of what waits no more. */
  tidy(): Promise<void>;
  clear(): void;
}

const TEST_READ_MS = 4_000;

/** Builds the store. */
export function createPush(
  api: Pick<Api, "push" | "subscribePush" | "unsubscribePush" | "testPush" | "pushOpened">,
  { push: host, after, isWaiting }: {
    readonly push: PushHost;
    readonly isWaiting: (itemId: string) => boolean;
    readonly after: (ms: number, callback: () => void) => () => void;
  },
): PushStore {
  const state = signal<PushState | undefined>(undefined);
  const endpoint = signal<string | undefined>(undefined);
  const permission = signal<NotificationPermission>("default");
  const isTesting = signal(false);
  const busy = signal(false);
  const error = signal<string | undefined>(undefined);

  const status = computed((): PushStatus => {
    if (host.support !== "full") return host.support === "install" ? "install" : "unsupported";
    if (state.value === undefined) return "unknown";
    const { publicKey, subscription } = state.value;
    if (publicKey === undefined) return "unavailable";
    if (permission.value === "denied") return "denied";
    if (subscription?.state === "blocked") return "blocked";
    return subscription !== undefined && subscription.endpoint === endpoint.value ? "on" : "off";
  });

  async function read(): Promise<void> {
    if (host.support !== "full") return;
    permission.value = host.permission();
    endpoint.value = await host.endpoint();
    state.value = await api.push();
  }

  async function attempt(work: () => Promise<void>): Promise<void> {
    if (busy.peek()) return;
    busy.value = true;
    error.value = undefined;
    try {
      await work();
    } catch (failure) {
      error.value = failure instanceof ApiFailure ? sentenceOf(failure) : pushStrings.refused;
    } finally {
      busy.value = false;
    }
  }

  return {
    status,
    last: computed(() => state.value?.subscription?.last),
    test: computed(() => state.value?.subscription?.test),
    isTesting,
    busy,
    error,
    load: () => attempt(read),
    turnOn: () =>
      attempt(async () => {
        const publicKey = state.peek()?.publicKey;
        if (publicKey === undefined) return;
        permission.value = await host.ask();
        if (permission.peek() !== "granted") return;
        state.value = await api.subscribePush(await host.subscribe(publicKey));
        endpoint.value = await host.endpoint();
      }),
    turnOff: () =>
      attempt(async () => {
        await api.unsubscribePush();
        await host.unsubscribe();
        await read();
      }),
    sendTest: () =>
      attempt(async () => {
        await api.testPush();
        isTesting.value = true;
        after(TEST_READ_MS, () => {
          isTesting.value = false;
          void attempt(read);
        });
      }),
    async opened(itemId) {
      // Only a note: whoever opened it reads the item in any case.
      await api.pushOpened(itemId).catch(() => undefined);
    },
    async tidy() {
      await host.keepOnly(isWaiting).catch(() => undefined);
    },
    clear() {
      state.value = undefined;
      isTesting.value = false;
      error.value = undefined;
    },
  };
}
