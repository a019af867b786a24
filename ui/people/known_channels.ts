/** Names of the channels whose conversations are in the list: the only ones that the page can name. */
import { printableLine } from "../../lib/printable.ts";
import type { App } from "../store/app.ts";

/** By number. */
export function knownChannels({ conversations }: App): ReadonlyMap<number, string> {
  return new Map(
    [...conversations.rows.value.values()].flatMap(({ channelId, channel }) =>
      channelId === undefined || channel === undefined ? [] : [[channelId, printableLine(channel)] as const]
    ),
  );
}
