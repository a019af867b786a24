/**
 * Events of a Zulip queue, read into typed shapes.
 *
 * Promises: `parseEvent` never throws and never loses the id that must be acknowledged; an event we do not act on is `other`, by name, on purpose
 * (`IGNORED_EVENTS`), and so is one that a newer server invents. Tolerant of unknown fields, from feature level 237 to 12.x. Does not know what anybody
 * does with an event. Proved by `wire_test.ts`, which sends every sample through it.
 */
import * as z from "zod";
import {
  DeleteMessageEvent,
  MessageEvent,
  MessageFlagsEvent,
  ReactionEvent,
  SubmessageEvent,
  TypingEvent,
  UpdateMessageEvent,
} from "./message_events.ts";
import {
  HeartbeatEvent,
  RealmDeactivatedEvent,
  RealmUserEvent,
  RestartEvent,
  StreamEvent,
  SubscriptionEvent,
} from "./realm_events.ts";

/** Event names that we know and do not act on. */
export const IGNORED_EVENTS: ReadonlySet<string> = new Set([
  "alert_words",
  "attachment",
  "channel_folder",
  "custom_profile_fields",
  "default_stream_groups",
  "default_streams",
  "device",
  "drafts",
  "has_webex_token",
  "has_zoom_token",
  "invites_changed",
  "muted_topics",
  "muted_users",
  "navigation_view",
  "onboarding_steps",
  "presence",
  "push_device",
  "realm", // all but `deactivated`
  "realm_bot", // accounts come and go through realm_user too
  "realm_domains",
  "realm_emoji",
  "realm_export",
  "realm_export_consent",
  "realm_filters",
  "realm_linkifiers",
  "realm_playgrounds",
  "realm_user_settings_defaults",
  "reminders",
  "saved_snippets",
  "scheduled_messages",
  "typing_edit_message",
  "update_display_settings",
  "update_global_notifications",
  "user_group",
  "user_settings",
  "user_status",
  "user_topic",
  "web_reload_client", // concerns the web app
]);

const HANDLED = {
  message: MessageEvent,
  update_message: UpdateMessageEvent,
  update_message_flags: MessageFlagsEvent,
  delete_message: DeleteMessageEvent,
  reaction: ReactionEvent,
  subscription: SubscriptionEvent,
  stream: StreamEvent,
  realm_user: RealmUserEvent,
  submessage: SubmessageEvent,
  restart: RestartEvent,
  typing: TypingEvent,
  heartbeat: HeartbeatEvent,
} as const;

/** An event we do not act on. `known` is false for a name that this file has never heard of. */
export interface OtherEvent {
  readonly type: "other";
  /** Null in some of Zulip's own samples; a queue gives every event one. */
  readonly id: number | null;
  readonly name: string;
  readonly known: boolean;
}

export type ZulipEvent =
  | { [K in keyof typeof HANDLED]: z.output<(typeof HANDLED)[K]> }[keyof typeof HANDLED]
  | z.output<typeof RealmDeactivatedEvent>
  | OtherEvent;

/** An event of one type, such as `EventOf<"message">`. */
export type EventOf<T extends ZulipEvent["type"]> = Extract<ZulipEvent, { type: T }>;

export type ParsedEvent =
  | { readonly ok: true; readonly event: ZulipEvent }
  /** `id` is null when even that could not be read. `reason` names fields, never values. */
  | { readonly ok: false; readonly name: string; readonly id: number | null; readonly reason: string };

const Header = z.object({
  type: z.string(),
  id: z.number().int().nullable().catch(null),
  op: z.string().optional().catch(undefined),
});

/** Reads one element of the `events` list of GET /events. */
export function parseEvent(raw: unknown): ParsedEvent {
  const header = Header.safeParse(raw);
  if (!header.success) {
    const partial = z.object({ id: z.number().int().nullable().catch(null) }).safeParse(raw);
    return { ok: false, name: "unnamed", id: partial.data?.id ?? null, reason: fieldsOf(header.error) };
  }
  const { type: name, id: eventId, op } = header.data;
  if (name === "realm" && op === "deactivated") {
    return finish(name, eventId, RealmDeactivatedEvent.safeParse(raw));
  }
  if (isHandled(name)) return finish(name, eventId, HANDLED[name].safeParse(raw));
  return { ok: true, event: { type: "other", id: eventId, name, known: IGNORED_EVENTS.has(name) } };
}

function isHandled(name: string): name is keyof typeof HANDLED {
  return Object.hasOwn(HANDLED, name);
}

function finish(name: string, eventId: number | null, result: z.ZodSafeParseResult<ZulipEvent>): ParsedEvent {
  return result.success
    ? { ok: true, event: result.data }
    : { ok: false, name, id: eventId, reason: fieldsOf(result.error) };
}

function fieldsOf(error: z.ZodError): string {
  return error.issues.map((issue) => issue.path.join(".") || issue.code).join(", ");
}

/** The answer to GET /events; its elements go through {@link parseEvent} one by one. */
export const EventBatch = z.object({ events: z.array(z.unknown()) }).transform((body) => body.events);
