/**
 * A person while the owner types them: text as it stands in the fields, what is wrong with it, and what is sent. Pure. Proven by
 * `tests/browser/people_test.ts`.
 */
import type { UserInput, UserView } from "../../edge/api.ts";
import { peopleStrings as words } from "../strings/people.ts";

/** A line of the list of channels. */
export interface ChannelLine {
  readonly id: string;
  readonly access: "view" | "approve";
}

/** The fields. */
export interface PersonDraft {
  readonly name: string;
  readonly role: UserView["role"];
  readonly zulip: string;
  readonly channels: readonly ChannelLine[];
}

/** The fields for somebody, or for somebody new. */
export function personDraftOf(user: UserView | undefined): PersonDraft {
  return {
    name: user?.name ?? "",
    role: user?.role ?? "approver",
    zulip: `${user?.zulipUserId ?? ""}`,
    channels: user?.channels.map(({ id, access }) => ({ id: `${id}`, access })) ?? [],
  };
}

/** What keeps the fields from being sent. */
export function personProblem({ zulip, channels }: PersonDraft): string | undefined {
  if (zulip.trim() !== "" && numberOf(zulip) === undefined) return words.zulipProblem;
  const ids = channels.map(({ id }) => numberOf(id));
  if (ids.includes(undefined)) return words.channelProblem;
  return new Set(ids).size < ids.length ? words.channelTwice : undefined;
}

/** What is sent, once there is no problem. */
export function personOf({ name, role, zulip, channels }: PersonDraft): UserInput {
  return {
    name: name.trim(),
    role,
    zulipUserId: numberOf(zulip) ?? null,
    channels: channels.flatMap(({ id, access }) => {
      const number = numberOf(id);
      return number === undefined ? [] : [{ id: number, access }];
    }),
  };
}

function numberOf(text: string): number | undefined {
  const trimmed = text.trim();
  const number = Number(trimmed);
  return /^[0-9]+$/.test(trimmed) && number > 0 && Number.isSafeInteger(number) ? number : undefined;
}
