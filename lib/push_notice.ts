/**
 * What a push message says: to be decided about, or over, and no more of it than the tool's name and the conversation's title. Written by the push
 * gateway, read by the service worker. The wording on the device is the worker's. Pure. Proven by `push_notice_test.ts`.
 */

/** The message. `tool` and `conversation` are printable already. */
export interface PushNotice {
  readonly v: 1;
  readonly about: "waiting" | "settled" | "test";
  readonly itemId?: string | undefined;
  /** The tool's name, or the kind of an item that has none. */
  readonly tool?: string | undefined;
  readonly conversation?: string | undefined;
}

/** Reads a message; undefined for one that this version does not know. */
export function readNotice(text: string): PushNotice | undefined {
  let value: Partial<Record<keyof PushNotice, unknown>> | null;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  const about = (["waiting", "settled", "test"] as const).find((known) => known === value?.about);
  if (value?.v !== 1 || about === undefined) return undefined;
  const [itemId, tool, conversation] = [value.itemId, value.tool, value.conversation].map(words);
  if (about !== "test" && itemId === undefined) return undefined;
  return { v: 1, about, itemId, tool, conversation };
}

function words(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}
