/**
 * All stores of the page, wired: stream events go to the store that owns them, signing in starts the stream and the lists, signing out forgets
 * everything. The composition root of the UI without its screens; the browser is a parameter. Proven by `store_test.ts`.
 */
import { effect, type ReadonlySignal, signal, untracked } from "@preact/signals";
import type { StreamEvent } from "../../edge/api.ts";
import { createApi } from "../api.ts";
import type { Authenticator } from "../authenticator.ts";
import { createRouter, type Router, type RouterHost } from "../router.ts";
import { type ActorsStore, createActors } from "./actors.ts";
import { type AuditStore, createAudit } from "./audit.ts";
import { type ChatStore, createChat } from "./chat.ts";
import { type ConversationsStore, createConversations } from "./conversations.ts";
import { type Confirming, createConfirming } from "./confirming.ts";
import { createInbox, type InboxStore } from "./inbox.ts";
import { createLive, type EventStream, type LiveStream } from "./live.ts";
import { createPasskeys, type PasskeyStore } from "./passkeys.ts";
import { createPolicy, type PolicyStore } from "./policy.ts";
import { createPush, type PushHost, type PushStore } from "./push.ts";
import { createSession, type SessionStore } from "./session.ts";
import { createTheme, type ThemeHost, type ThemeStore } from "./theme.ts";

/** What the page takes from the browser. */
export interface AppHost extends ThemeHost, RouterHost {
  readonly fetch: typeof fetch;
  readonly authenticator: Authenticator;
  readonly fragment: string;
  readonly openStream: (url: string) => EventStream;
  readonly isOnline: () => boolean;
  readonly after: (ms: number, callback: () => void) => () => void;
  readonly now: () => number;
  readonly newId: () => string;
  readonly push: PushHost;
  /** The item to which a notification led, when the page was opened by one. */
  readonly pushedItem?: string | undefined;
}

/** Everything a screen may use. */
export interface App {
  readonly session: SessionStore;
  readonly confirming: Confirming;
  readonly passkeys: PasskeyStore;
  readonly inbox: InboxStore;
  readonly conversations: ConversationsStore;
  readonly chat: ChatStore;
  readonly actors: ActorsStore;
  readonly policy: PolicyStore;
  readonly audit: AuditStore;
  readonly push: PushStore;
  readonly live: LiveStream;
  readonly theme: ThemeStore;
  readonly router: Router;
  /** Milliseconds since the epoch, moved by `tick`. */
  readonly now: ReadonlySignal<number>;
  /** Moves the clock on screen. */
  tick(): void;
  /** Asks who is signed in and begins. */
  start(): Promise<void>;
}

/** Builds and wires the stores. */
export function createApp(host: AppHost): App {
  const now = signal(host.now());
  const api = createApi({
    fetch: host.fetch,
    authenticator: host.authenticator,
    onSignedOut: () => session.ended(),
    onReauthenticate: () => confirming.ask(),
  });
  const confirming = createConfirming((token) => api.confirm(token), () => api.passkeyConfirm());
  const session = createSession(api, host);
  const passkeys = createPasskeys(api, {
    isSupported: host.authenticator.isSupported,
    onChange: () => session.refresh(),
  });
  const inbox = createInbox(api, now);
  const conversations = createConversations(api, host.after);
  const chat = createChat(api, { newId: host.newId });
  const actors = createActors(api);
  const policy = createPolicy(api, (ms) => new Promise((resolve) => host.after(ms, resolve)));
  const audit = createAudit(api);
  const push = createPush(api, {
    push: host.push,
    after: host.after,
    isWaiting: (itemId) => inbox.items.peek().get(itemId)?.state === "waiting",
  });
  const router = createRouter(host);
  const live = createLive({
    open: host.openStream,
    onEvent: receive,
    mayRetry: async () => await session.refresh() || session.state.peek() !== "signed_out",
    isOnline: host.isOnline,
    after: host.after,
  });

  function receive(event: StreamEvent): void {
    switch (event.event) {
      case "item":
        return inbox.receive(event.data.item);
      case "actor":
        return actors.receive(event.data.ref, event.data.actor);
      case "conversation":
        return conversations.receive(event.data.conversation);
      case "events":
        return chat.reaches(event.data.conversation, event.data.seq);
      case "delta":
        return chat.receive(event.data.conversation, event.data.delta);
      case "reset":
        return void readAll();
      case "schedule":
        return policy.schedulesChanged();
      case "policy":
        return policy.policyChanged();
      case "hello":
        return;
      default:
        return event satisfies never;
    }
  }

  async function readAll(): Promise<void> {
    policy.policyChanged();
    await Promise.all([
      inbox.load(),
      conversations.load(),
      actors.load(),
      chat.catchUp(),
      policy.effects.load(),
    ]);
  }

  // The stream is opened first: what happens while the lists are read comes twice rather than not at all.
  effect(() => {
    const state = session.state.value;
    untracked(() => {
      if (state === "signed_in") {
        live.start();
        void readAll();
        if (host.pushedItem !== undefined) void push.opened(host.pushedItem);
      } else if (state === "signed_out") {
        live.stop();
        confirming.cancel();
        for (const store of [inbox, conversations, actors, chat, policy, audit, passkeys, push]) {
          store.clear();
        }
      }
    });
  });
  // What could not be read while the server was away is read again, and the notice of it goes.
  effect(() => {
    if (live.connection.value !== "live") return;
    untracked(() => {
      for (const store of [inbox, conversations, actors]) {
        if (store.error.peek() !== undefined) void store.load();
      }
      if (chat.error.peek() !== undefined) void chat.catchUp();
    });
  });
  effect(() => {
    // Before the list was read nothing is known to wait no more.
    if (inbox.loaded.value && inbox.items.value.size > 0) untracked(() => void push.tidy());
  });
  effect(() => {
    const route = router.route.value;
    const open = route.name === "chat" ? route.id : undefined;
    const isIn = session.state.value === "signed_in";
    untracked(() => {
      live.watch(open);
      if (isIn) void chat.open(open);
    });
  });

  return {
    session,
    confirming,
    passkeys,
    inbox,
    conversations,
    chat,
    actors,
    policy,
    audit,
    push,
    live,
    theme: createTheme(host),
    router,
    now,
    tick() {
      now.value = host.now();
    },
    async start() {
      await session.refresh();
    },
  };
}
