/**
 * The HTTP client of the page: one function a call, typed by `edge/api.ts`. Every failure, the network's included, becomes an `ApiFailure`
 * with a code and a sentence for people. It repeats the session's CSRF token and knows nothing of signals or screens. Answers come from the
 * page's own origin, so their shapes are trusted. Proven by `store/store_test.ts`.
 */
import type {
  Accepted,
  ActorList,
  CommandAccepted,
  CommandDone,
  ConversationList,
  ConversationSummary,
  DeciderList,
  DecisionConflict,
  DecisionRequest,
  DeviceLink,
  DeviceList,
  ErrorBody,
  EventList,
  Item,
  ItemList,
  Me,
  NewMessage,
  PushState,
  PushSubscriptionInput,
  UserList,
} from "../edge/api.ts";
import { ApiFailure } from "./api_failure.ts";
import type { Authenticator } from "./authenticator.ts";
import { type PasskeyApi, passkeyApi } from "./passkey_api.ts";
import { type Calls, type PolicyApi, policyApi } from "./policy_api.ts";
import { strings } from "./strings.ts";

export { ApiFailure };

/** What the stores may ask of the server. Every call rejects with `ApiFailure`. */
export interface Api extends PolicyApi, PasskeyApi {
  signIn(token: string): Promise<void>;
  /** Proves again who is signed in. */
  confirm(token: string): Promise<void>;
  signOut(): Promise<void>;
  me(): Promise<Me>;
  devices(): Promise<DeviceList>;
  linkDevice(): Promise<DeviceLink>;
  revokeDevice(id: string): Promise<void>;
  push(): Promise<PushState>;
  subscribePush(subscription: PushSubscriptionInput): Promise<PushState>;
  unsubscribePush(): Promise<void>;
  /** Asks for a test message to this device. */
  testPush(): Promise<void>;
  /** A notification about the item was opened on this device. */
  pushOpened(itemId: string): Promise<void>;
  inbox(state?: Item["state"], after?: string): Promise<ItemList>;
  item(id: string): Promise<Item>;
  decide(id: string, request: DecisionRequest): Promise<Item>;
  later(id: string, until: number | null): Promise<Item>;
  delegate(id: string, userId: string | null): Promise<Item>;
  /** Takes back an allowance whose call has not begun. */
  undo(id: string): Promise<unknown>;
  users(): Promise<UserList>;
  /** Who else may decide an item. */
  deciders(id: string): Promise<DeciderList>;
  seen(id: string): Promise<void>;
  /** A page of the list; with `search`, of the conversations that hold its words. */
  conversations(after?: string, search?: string): Promise<ConversationList>;
  conversation(id: string): Promise<ConversationSummary>;
  events(id: string, after: number): Promise<EventList>;
  begin(text: string): Promise<Accepted>;
  send(id: string, message: NewMessage): Promise<Accepted>;
  stop(id: string, turnId?: string): Promise<Accepted>;
  actors(): Promise<ActorList>;
  restart(ref: string): Promise<CommandAccepted>;
}

/** Where the client gets what is not its own. */
export interface ApiOptions {
  readonly fetch: typeof fetch;
  readonly authenticator: Authenticator;
  /** Told of every 401: the session is over. */
  readonly onSignedOut: () => void;
  /** Asks the person to prove who they are; resolves to whether they did. Then the refused call is made once more. */
  readonly onReauthenticate: () => Promise<boolean>;
}

const EVENTS_A_PAGE = 500;

/** Builds the client. It learns the CSRF token from `me()`. */
export function createApi({ fetch, authenticator, onSignedOut, onReauthenticate }: ApiOptions): Api {
  let csrf = "";

  async function ask(method: string, path: string, body?: unknown): Promise<Response> {
    try {
      return await askOnce(method, path, body);
    } catch (failure) {
      const isStale = failure instanceof ApiFailure && failure.code === "reauthenticate";
      if (!isStale || !await onReauthenticate()) throw failure;
      return await askOnce(method, path, body);
    }
  }

  async function askOnce(method: string, path: string, body?: unknown): Promise<Response> {
    const answer = await reach(() =>
      fetch(`/api${path}`, {
        method,
        credentials: "same-origin",
        cache: "no-store",
        headers: {
          Accept: "application/json",
          ...(method === "GET" ? {} : { "X-Callboard-Csrf": csrf }),
          ...(body === undefined ? {} : { "Content-Type": "application/json" }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
    );
    if (!answer.ok) {
      if (answer.status === 401 && path !== "/session") onSignedOut();
      throw await failureOf(answer);
    }
    return answer;
  }

  async function call<T>(method: string, path: string, body?: unknown): Promise<T> {
    const answer = await ask(method, path, body);
    // Our own server's answer, held to `edge/api.ts` by its tests; no body reads as undefined.
    return (answer.status === 204 ? undefined : await answer.json()) as T;
  }

  const change: Calls["change"] = async (method, path, body) => {
    const answer = await ask(method, path, body);
    // 202 is a command whose outcome is not known yet; its shape is the API's `CommandAccepted`, else `CommandDone`.
    const done = await answer.json() as CommandDone;
    return { ...done, settled: answer.status !== 202 };
  };
  const id = encodeURIComponent;

  return {
    ...policyApi({ call, change }),
    ...passkeyApi({ call }, authenticator),
    signIn: (token) => call("POST", "/session", { token }),
    confirm: (token) => call("POST", "/session/confirm", { token }),
    signOut: () => call("DELETE", "/session"),
    async me() {
      const me = await call<Me>("GET", "/me");
      csrf = me.csrf;
      return me;
    },
    devices: () => call("GET", "/devices"),
    linkDevice: () => call("POST", "/devices/link"),
    revokeDevice: (device) => call("DELETE", `/devices/${id(device)}`),
    push: () => call("GET", "/push"),
    subscribePush: (subscription) => call("PUT", "/push/subscription", subscription),
    unsubscribePush: () => call("DELETE", "/push/subscription"),
    testPush: () => call("POST", "/push/test"),
    pushOpened: (itemId) => call("POST", "/push/clicked", { itemId }),
    inbox: (state, after) => call("GET", `/inbox${query({ state, after, limit: "100" })}`),
    item: (item) => call("GET", `/inbox/${id(item)}`),
    decide: (item, request) => call("POST", `/inbox/${id(item)}/decision`, request),
    later: (item, until) => call("POST", `/inbox/${id(item)}/later`, { until }),
    delegate: (item, userId) => call("POST", `/inbox/${id(item)}/delegate`, { userId }),
    undo: (item) => call("POST", `/inbox/${id(item)}/undo`),
    users: () => call("GET", "/users"),
    deciders: (item) => call("GET", `/inbox/${id(item)}/deciders`),
    seen: (item) => call("POST", `/inbox/${id(item)}/seen`),
    conversations: (after, search) =>
      call("GET", `/conversations${query({ after, q: search, limit: "50" })}`),
    conversation: (conversation) => call("GET", `/conversations/${id(conversation)}`),
    events: (conversation, after) =>
      call(
        "GET",
        `/conversations/${id(conversation)}/events${query({ after: `${after}`, limit: `${EVENTS_A_PAGE}` })}`,
      ),
    begin: (text) => call("POST", "/conversations", { text }),
    send: (conversation, message) => call("POST", `/conversations/${id(conversation)}/messages`, message),
    stop: (conversation, turnId) =>
      call("POST", `/conversations/${id(conversation)}/stop`, turnId === undefined ? {} : { turnId }),
    actors: () => call("GET", "/actors"),
    restart: (ref) => call("POST", `/actors/${id(ref)}/restart`),
  };
}

/** A sentence for people about anything that was thrown. */
export function sentenceOf(error: unknown): string {
  return error instanceof ApiFailure ? error.message : strings.errors.unexpected;
}

async function reach(request: () => Promise<Response>): Promise<Response> {
  try {
    return await request();
  } catch {
    throw new ApiFailure(0, "offline", strings.errors.offline);
  }
}

async function failureOf(answer: Response): Promise<ApiFailure> {
  try {
    // Ours when it parses and has the two fields; anything else (a proxy's page) falls to the catch.
    const body = await answer.json() as ErrorBody & Partial<DecisionConflict>;
    return new ApiFailure(answer.status, body.error.code, body.error.message, body.item);
  } catch {
    return new ApiFailure(answer.status, "unreadable", strings.errors.status(answer.status));
  }
}

function query(values: Readonly<Record<string, string | undefined>>): string {
  const known = Object.entries(values).filter((pair): pair is [string, string] => pair[1] !== undefined);
  return known.length === 0 ? "" : `?${new URLSearchParams(known)}`;
}
