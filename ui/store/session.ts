/**
 * Who is signed in, and the one-time token of a sign-in link. The token is read from the fragment once and taken out of the address bar at once; it
 * is sent only on a tap, so that a link preview or a prefetch cannot use it up. Proven by `store_test.ts`.
 */
import { type ReadonlySignal, signal } from "@preact/signals";
import type { Device, DeviceLink, Me } from "../../edge/api.ts";
import { type Api, ApiFailure, sentenceOf } from "../api.ts";

/** The token of `#token=…`; undefined when the fragment holds none. */
export function tokenOf(fragment: string): string | undefined {
  const token = new URLSearchParams(fragment.replace(/^#/, "")).get("token")?.trim();
  return token === undefined || token === "" ? undefined : token;
}

/** The token in what was pasted: a token, or a link that carries one. */
export function tokenIn(text: string): string {
  const at = text.indexOf("#token=");
  return (at < 0 ? undefined : tokenOf(text.slice(at))) ?? text.trim();
}

/** Remembered on this device while somebody is signed in, so that an ended session is told apart from a first visit. */
const SIGNED_IN = "callboard.signed_in";

/** `unknown` until the server has answered once. */
export type SessionState = "unknown" | "signed_out" | "signed_in" | "unreachable";

/** The session. */
export interface SessionStore {
  readonly state: ReadonlySignal<SessionState>;
  readonly me: ReadonlySignal<Me | undefined>;
  /** While `unreachable`: the device itself has no network. */
  readonly isOffline: ReadonlySignal<boolean>;
  readonly busy: ReadonlySignal<boolean>;
  readonly error: ReadonlySignal<string | undefined>;
  readonly devices: ReadonlySignal<readonly Device[] | undefined>;
  readonly link: ReadonlySignal<DeviceLink | undefined>;
  /** The token that a link brought, still unused. */
  readonly linkToken: ReadonlySignal<string | undefined>;
  /** Signed out, and not by this page's own button: the session ran out or was ended elsewhere. */
  readonly hasEnded: ReadonlySignal<boolean>;
  /** Takes the token of a fragment that came later; says whether it held one. */
  offer(fragment: string): boolean;
  /** Asks who is signed in; resolves to whether somebody is. */
  refresh(): Promise<boolean>;
  /** With a token, or a link that carries one. */
  signIn(text: string): Promise<void>;
  signInByPasskey(): Promise<void>;
  signOut(): Promise<void>;
  /** The server says that the session is over. */
  ended(): void;
  loadDevices(): Promise<void>;
  makeLink(): Promise<void>;
  revoke(deviceId: string): Promise<void>;
}

/** What the session takes from the browser. `fragment` is the address's, already removed from the bar. */
export interface SessionHost {
  readonly fragment: string;
  readonly isOnline: () => boolean;
  readonly storage: Pick<Storage, "getItem" | "setItem">;
}

/** Builds the store. */
export function createSession(api: Api, { fragment, isOnline, storage }: SessionHost): SessionStore {
  const state = signal<SessionState>("unknown");
  const me = signal<Me | undefined>(undefined);
  const isOffline = signal(false);
  const busy = signal(false);
  const error = signal<string | undefined>(undefined);
  const devices = signal<readonly Device[] | undefined>(undefined);
  const link = signal<DeviceLink | undefined>(undefined);
  const linkToken = signal(tokenOf(fragment));
  const hasEnded = signal(false);

  function ended(): void {
    hasEnded.value ||= storage.getItem(SIGNED_IN) === "yes";
    storage.setItem(SIGNED_IN, "");
    me.value = undefined;
    devices.value = undefined;
    link.value = undefined;
    state.value = "signed_out";
  }

  async function refresh(): Promise<boolean> {
    try {
      me.value = await api.me();
      storage.setItem(SIGNED_IN, "yes");
      hasEnded.value = false;
      error.value = undefined;
      state.value = "signed_in";
      return true;
    } catch (failure) {
      if (failure instanceof ApiFailure && failure.status === 401) ended();
      else if (me.peek() === undefined) {
        state.value = "unreachable";
        isOffline.value = !isOnline();
        error.value = sentenceOf(failure);
      }
      return false;
    }
  }

  /** Runs one call of the person's; its failure becomes `error`. */
  async function attempt(call: () => Promise<void>): Promise<void> {
    busy.value = true;
    error.value = undefined;
    try {
      await call();
    } catch (failure) {
      error.value = sentenceOf(failure);
    } finally {
      busy.value = false;
    }
  }

  return {
    state,
    me,
    isOffline,
    busy,
    error,
    devices,
    link,
    linkToken,
    hasEnded,
    offer(next) {
      const token = tokenOf(next);
      if (token === undefined) return false;
      linkToken.value = token;
      error.value = undefined;
      return true;
    },
    refresh,
    ended,
    signIn: (text) =>
      attempt(async () => {
        // A one-time token is spent or wrong after this, whatever the answer.
        linkToken.value = undefined;
        await api.signIn(tokenIn(text));
        await refresh();
      }),
    signInByPasskey: () =>
      attempt(async () => {
        await api.passkeySignIn();
        await refresh();
      }),
    signOut: () =>
      attempt(async () => {
        await api.signOut();
        storage.setItem(SIGNED_IN, "");
        ended();
      }),
    loadDevices: () =>
      attempt(async () => {
        devices.value = (await api.devices()).devices;
      }),
    makeLink: () =>
      attempt(async () => {
        link.value = await api.linkDevice();
      }),
    revoke: (deviceId) =>
      attempt(async () => {
        await api.revokeDevice(deviceId);
        devices.value = devices.peek()?.filter((device) => device.id !== deviceId);
      }),
  };
}
