import assert from "node:assert/strict";
import fc from "fast-check";
import { zulipExamples, zulipExampleText, zulipSpecTest } from "../tests/zulip_spec.ts";
import { EventBatch, IGNORED_EVENTS, parseEvent } from "./wire/events.ts";
import { MessagePage, SentMessage, SingleMessage } from "./wire/messages.ts";
import {
  ChannelList,
  Done,
  Registration,
  ServerSettings,
  SubscriptionList,
  User,
  UserList,
} from "./wire/register.ts";
import { WebhookPayload } from "./wire/webhook.ts";

/** What each official sample is to us: a handled type, or `-` for ignored on purpose. */
const OFFICIAL = `
alert_words -
attachment.add -
attachment.remove -
attachment.update -
channel_folder.add -
channel_folder.reorder -
channel_folder.update -
custom_profile_fields -
default_stream_groups -
default_streams -
delete_message delete_message
drafts.add -
drafts.remove -
drafts.update -
has_zoom_token -
heartbeat heartbeat
invites_changed -
message message
muted_topics -
muted_users -
navigation_view.add -
navigation_view.remove -
navigation_view.update -
onboarding_steps -
presence -
push_device -
reaction.add reaction
reaction.remove reaction
realm.deactivated realm_deactivated
realm.update -
realm.update_dict -
realm_bot.add -
realm_bot.delete -
realm_bot.remove -
realm_bot.update -
realm_domains.add -
realm_domains.change -
realm_domains.remove -
realm_emoji.update -
realm_export -
realm_export_consent -
realm_filters -
realm_linkifiers -
realm_playgrounds -
realm_user.add realm_user
realm_user.remove realm_user
realm_user.update realm_user
realm_user_settings_defaults.update -
reminders.add -
reminders.remove -
restart restart
saved_snippets.add -
saved_snippets.remove -
saved_snippets.update -
scheduled_messages.add -
scheduled_messages.remove -
scheduled_messages.update -
stream.create stream
stream.delete stream
stream.update stream
submessage submessage
subscription.add subscription
subscription.peer_add subscription
subscription.peer_remove subscription
subscription.remove subscription
subscription.update subscription
typing.start typing
typing.stop typing
typing_edit_message.start -
typing_edit_message.stop -
update_display_settings -
update_global_notifications -
update_message update_message
update_message_flags.add update_message_flags
update_message_flags.remove update_message_flags
user_group.add -
user_group.add_members -
user_group.add_subgroups -
user_group.remove -
user_group.remove_members -
user_group.remove_subgroups -
user_group.update -
user_settings.update -
user_status -
user_topic -
web_reload_client -`;

zulipSpecTest("every official event sample is handled or ignored on purpose", () => {
  const outcomes = zulipExamples("events").map(({ name, json }) => `${name} ${outcomeOf(json)}`);

  assert.deepEqual(outcomes.sort(), OFFICIAL.trim().split("\n").sort());
});

zulipSpecTest("every derived event sample is handled as what its name says, or ignored on purpose", () => {
  for (const { name, json } of zulipExamples("events-derived")) {
    const type = name.replace(/^12\//, "").split(".")[0] ?? "";

    assert.equal(outcomeOf(json), IGNORED_EVENTS.has(type) ? "-" : type, name);
  }
});

/** The handled type; `-` for a known event that is ignored; otherwise what went wrong. */
function outcomeOf(raw: unknown): string {
  const parsed = parseEvent(raw);
  if (!parsed.ok) return `unreadable: ${parsed.reason}`;
  if (parsed.event.type !== "other") return parsed.event.type;
  return parsed.event.known ? "-" : `unknown: ${parsed.event.name}`;
}

function derived(name: string) {
  const sample = zulipExamples("events-derived").find((example) => example.name === name);
  const parsed = parseEvent(sample?.json);
  assert.ok(parsed.ok, name);
  return parsed.event;
}

zulipSpecTest("update_message tells an edit, a move, a resolve and a mere rendering apart", () => {
  const move = (name: string) => {
    const event = derived(`update_message.${name}`);
    assert.ok(event.type === "update_message");
    return { move: event.move, content: event.content, rendering: event.renderingOnly };
  };
  const from = { channelId: 5, topic: "test" };
  const moved = (channelId: number, topic: string) => ({
    move: { from, to: { channelId, topic }, propagateMode: "change_all" },
    content: null,
    rendering: false,
  });

  assert.deepEqual(move("content_edit"), { move: null, content: "new content", rendering: false });
  assert.deepEqual(move("content_edit_dm"), { move: null, content: "new content", rendering: false });
  assert.deepEqual(move("rendering_only"), { move: null, content: null, rendering: true });
  assert.deepEqual(move("topic_rename"), moved(5, "new_topic"));
  assert.deepEqual(move("resolve"), moved(5, "✔ test"));
  assert.deepEqual(move("to_general_chat"), moved(5, ""));
  assert.deepEqual(move("channel_move"), moved(9, "test"));
});

zulipSpecTest("message events carry place, mention and echo", () => {
  const message = (name: string) => {
    const event = derived(`message.${name}`);
    assert.ok(event.type === "message");
    return event;
  };

  assert.equal(message("own_echo").localMessageId, "100.01");
  assert.ok(message("mention").flags.includes("mentioned"));
  assert.deepEqual(message("general_chat").message.place, {
    kind: "channel",
    channelId: 5,
    channelName: "Verona",
    topic: "",
  });
  const { place } = message("dm").message;
  assert.deepEqual(place.kind === "direct" && place.users.map((user) => user.id), [4, 5]);
  assert.equal(message("resolved_notice").message.senderRealm, "zulipinternal");
  const bulk = derived("delete_message.bulk_stream");
  assert.deepEqual(bulk.type === "delete_message" && [bulk.messageIds, bulk.channelId, bulk.topic], [
    [57, 58],
    5,
    "test",
  ]);
});

zulipSpecTest("answers of every call that is made parse in each recorded form", () => {
  const schemas: Record<string, (json: unknown) => unknown> = {
    "register-queue": (json) => Registration.parse(json),
    "register-queue.relay": (json) => Registration.parse(json),
    "register-queue.relay.fl500": (json) => Registration.parse(json),
    "get-events.heartbeat": (json) => EventBatch.parse(json),
    "get-messages": (json) => MessagePage.parse(json),
    "get-message": (json) => SingleMessage.parse(json),
    "send-message": (json) => SentMessage.parse(json),
    "send-message.fl508": (json) => SentMessage.parse(json),
    "get-users": (json) => UserList.parse(json),
    "get-own-user": (json) => User.parse(json),
    "get-subscriptions": (json) => SubscriptionList.parse(json),
    "get-streams": (json) => ChannelList.parse(json),
    "get-server-settings": (json) => ServerSettings.parse(json),
    "update-message": (json) => Done.parse(json),
    "delete-message": (json) => Done.parse(json),
    "add-reaction": (json) => Done.parse(json),
    "remove-reaction": (json) => Done.parse(json),
    "set-typing-status": (json) => Done.parse(json),
    "delete-queue": (json) => Done.parse(json),
    "success.with_ignored_parameters": (json) => Done.parse(json),
  };
  const samples = [...zulipExamples("responses"), ...zulipExamples("responses-derived")];

  for (const [name, parse] of Object.entries(schemas)) {
    const sample = samples.find((s) => s.name === name);
    assert.ok(sample, name);
    parse(sample.json);
  }
});

zulipSpecTest("every outgoing webhook sample parses, and its answers are no payload", () => {
  for (const { name, json } of zulipExamples("webhook")) {
    assert.equal(WebhookPayload.safeParse(json).success, name.startsWith("outgoing.generic"), name);
  }
  // The Slack interface is refused on purpose: it has no topic in it.
  const slack = new URLSearchParams(zulipExampleText("webhook/outgoing.slack.form.txt"));
  assert.ok(!WebhookPayload.safeParse(Object.fromEntries(slack)).success);
  const payloads = zulipExamples("webhook").filter(({ name }) => name.startsWith("outgoing"))
    .map(({ json }) => WebhookPayload.parse(json));
  assert.deepEqual(payloads.map((p) => p.trigger).sort(), ["direct_message", "mention", "mention"]);
});

Deno.test("parseEvent never throws and keeps the id that must be acknowledged", () => {
  const anything = fc.oneof(
    fc.anything(),
    fc.record({
      type: fc.constantFrom("message", "reaction", "realm", "constructor", "new_in_13"),
      id: fc.nat(),
    }, {
      requiredKeys: [],
    }),
  );
  fc.assert(fc.property(anything, (raw) => {
    const parsed = parseEvent(raw);
    const id = typeof raw === "object" && raw !== null && "id" in raw && Number.isSafeInteger(raw.id)
      ? raw.id
      : null;
    assert.equal(parsed.ok ? parsed.event.id : parsed.id, id);
  }));
});

Deno.test("parseEvent names the fields of an unreadable event and none of its values", () => {
  const parsed = parseEvent({ type: "reaction", id: 3, op: "add", message_id: "secret" });

  assert.ok(!parsed.ok && parsed.id === 3 && parsed.name === "reaction");
  assert.match(parsed.reason, /message_id/);
  assert.doesNotMatch(parsed.reason, /secret/);
});

Deno.test("an event that a newer server invents is passed over as unknown", () => {
  assert.deepEqual(parseEvent({ type: "hologram", id: 4 }), {
    ok: true,
    event: { type: "other", id: 4, name: "hologram", known: false },
  });
});
