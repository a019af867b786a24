/**
 * From a push message to the notification that stands for it: one an item, replaced when it is over. Every message shows one, since browsers take the
 * right to push away from pages that show nothing. Pure. Proven by `notice_test.ts`.
 */
import { type PushNotice, readNotice } from "../lib/push_notice.ts";
import { noticeStrings as words } from "./strings/push.ts";

/** A notification; `path` is the screen that it opens. */
export interface Notice {
  readonly title: string;
  readonly options: {
    readonly tag: string;
    readonly body: string;
    readonly icon: string;
    readonly badge: string;
    /** It is news: it sounds although one with its tag is there. */
    readonly renotify: boolean;
    readonly silent: boolean;
    readonly data: { readonly path: string };
  };
}

/** The address of an item, telling the page that a notification led there. */
export const FROM_PUSH = "pushed";
const ICON = "/icon-192.png";

/** The notification for a message; of one that cannot be read, that there is something. */
export function noticeOf(text: string): Notice {
  const notice = readNotice(text);
  if (notice === undefined) return made("unknown", words.unknown, "", "/");
  if (notice.about === "test") return made("test", words.test, words.testBody, "/settings");
  const { tool = words.something, conversation = "", itemId = "" } = notice;
  return made(
    itemId,
    notice.about === "waiting" ? words.waiting(tool) : words.settled(tool),
    conversation,
    `/inbox/${encodeURIComponent(itemId)}?${FROM_PUSH}`,
    notice.about,
  );
}

function made(
  tag: string,
  title: string,
  body: string,
  path: string,
  about: PushNotice["about"] = "waiting",
): Notice {
  const isNews = about !== "settled";
  return {
    title,
    options: { tag, body, icon: ICON, badge: ICON, renotify: isNews, silent: !isNews, data: { path } },
  };
}

/** The item that a notification led to, by the address of the page that it opened. */
export function pushedItem(path: string, search: string): string | undefined {
  const [, item] = /^\/inbox\/([^/]+)$/.exec(path) ?? [];
  return item !== undefined && new URLSearchParams(search).has(FROM_PUSH)
    ? decodeURIComponent(item)
    : undefined;
}
