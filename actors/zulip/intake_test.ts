import assert from "node:assert/strict";
import type { EventOf } from "../../zulip/wire/events.ts";
import type { Message } from "../../zulip/wire/messages.ts";
import { parseCommand } from "./commands.ts";
import { gate, type GateContext } from "./gates.ts";
import { Journal } from "./journal.ts";
import { Lanes } from "./lanes.ts";
import { Roster } from "./roster.ts";
import { findOwn } from "./settle.ts";

const bot = { id: 9, fullName: "Callboard" };

function message(fields: Partial<Message> = {}): Message {
  return {
    id: 100,
    senderId: 1,
    senderEmail: "",
    senderName: "Hamlet",
    senderRealm: "zulip",
    client: "web",
    content: "@**Callboard** hello",
    timestamp: 0,
    isMeMessage: false,
    lastEditTimestamp: null,
    lastMovedTimestamp: null,
    reactions: [],
    submessages: [],
    flags: null,
    place: { kind: "channel", channelId: 5, channelName: "general", topic: "t" },
    ...fields,
  };
}

const direct = { kind: "direct", users: [{ id: 1, email: "", fullName: "Hamlet" }] } as const;

function context(fields: Partial<GateContext> = {}): GateContext {
  return {
    bot,
    mark: 50,
    isBot: (id) => id === 8,
    serves: (id) => id === 5,
    dms: true,
    allowedUserIds: [],
    isEngaged: () => false,
    flagged: false,
    ...fields,
  };
}

Deno.test.each([
  ["handled before", message({ id: 50 }), context()],
  ["own message", message({ senderId: 9 }), context({ allowedUserIds: [9] })],
  ["system bot", message({ senderRealm: "zulipinternal" }), context()],
  ["bot", message({ senderId: 8 }), context()],
  ["empty", message({ content: " \n" }), context()],
  ["direct messages are off", message({ place: direct }), context({ dms: false })],
  ["channel is not served", message(), context({ serves: () => false })],
  ["sender is not allowed", message(), context({ allowedUserIds: [2] })],
  ["sender is not allowed", message({ place: direct }), context({ allowedUserIds: [2] })],
  ["not addressed", message({ content: "hello" }), context()],
])("the gate drops a message for one reason: $0", (why, given, where) => {
  assert.deepEqual(gate(given, where), { pass: false, why });
});

Deno.test.each([
  ["a mention by name", message(), context(), true],
  ["a silent mention with id", message({ content: "@_**Callboard|9** psst" }), context(), true],
  ["the queue's flag alone", message({ content: "a group mention" }), context({ flagged: true }), true],
  ["a direct message", message({ content: "hi", place: direct }), context(), true],
  ["an engaged topic", message({ content: "and then?" }), context({ isEngaged: () => true }), false],
  ["a webhook older than the mark", message({ id: 10 }), context({ mark: null }), true],
])("the gate passes $0", (_name, given, where, addressed) => {
  assert.deepEqual(gate(given, where), { pass: true, addressed });
});

Deno.test.each([
  ["!help", { kind: "help" }],
  ["  /STATUS ", { kind: "status" }],
  [".stop", { kind: "stop" }],
  ["!Stop All", { kind: "stop_all" }],
  ["!resume all", { kind: "resume_all" }],
  ["!reset", { kind: "new" }],
  ["!model openai/gpt-5", { kind: "model", model: "openai/gpt-5" }],
  ["!m", { kind: "model", model: null }],
  ["!wat", { kind: "unknown", word: "wat" }],
  ["!!stop", { kind: "text", text: "!stop" }],
  ["!important: read this", { kind: "text", text: "!important: read this" }],
  ["!5", { kind: "text", text: "!5" }],
  ["/tmp is full", { kind: "text", text: "/tmp is full" }],
  ["/me waves", { kind: "text", text: "/me waves" }],
  ["!stop please", { kind: "surplus", word: "stop" }],
  ["/stop the presses", { kind: "text", text: "/stop the presses" }],
])("command $0 is read as it is meant", (text, command) => {
  assert.deepEqual(parseCommand(text), command);
});

function move(
  fields: Partial<NonNullable<EventOf<"update_message">["move"]>>,
  messageIds = [1],
): EventOf<"update_message"> {
  return {
    type: "update_message",
    id: 1,
    messageId: 1,
    messageIds,
    userId: 1,
    editTimestamp: 0,
    renderingOnly: false,
    content: null,
    channelId: 5,
    move: {
      from: { channelId: 5, topic: "old" },
      to: { channelId: 5, topic: "new" },
      propagateMode: "change_all",
      ...fields,
    },
  };
}

function journal(): Journal {
  const row = { kind: "channel", channelId: 5, topicKey: null, userIds: null } as const;
  return new Journal("realm", [
    { ...row, conversation: "a", topic: "old", lastOwnId: 40 },
    { ...row, conversation: "b", topic: "taken", lastOwnId: 0 },
  ]);
}

const topic = (name: string) =>
  ({ kind: "channel", channelId: 5, channelName: "general", topic: name }) as const;

Deno.test("the journal knows a topic under any case and with the resolved mark", () => {
  assert.equal(journal().at(topic("✔ OLD")), "a");
});

Deno.test("the journal follows a whole topic, and part of one only with our newest message", () => {
  const whole = journal();
  whole.move(move({}), () => true);
  const part = journal();
  part.move(move({ propagateMode: "change_later" }, [38, 40]), () => true);
  const other = journal();
  other.move(move({ propagateMode: "change_one" }, [38]), () => true);

  assert.deepEqual([whole, part, other].map((kept) => kept.at(topic("new"))), ["a", "a", undefined]);
  assert.equal(other.at(topic("old")), "a");
});

Deno.test("a topic moved onto another's place, or out of sight, is retired", () => {
  const merged = journal();
  const away = journal();

  assert.deepEqual(merged.move(move({ to: { channelId: 5, topic: "taken" } }), () => true).retired, ["a"]);
  assert.deepEqual(away.move(move({ to: { channelId: 6, topic: "old" } }), () => false).retired, ["a"]);
  assert.equal(merged.at(topic("taken")), "b");
  assert.equal(away.targetOf("a"), undefined);
});

Deno.test("a channel keeps being served under its new name, and stops with its deletion", () => {
  const roster = new Roster(["general"]);
  const channel = { id: 5, name: "general", isPrivate: false, isArchived: false };
  const missing = roster.reset([], [], [channel]);

  roster.follow({
    type: "stream",
    id: 1,
    op: "update",
    channelId: 5,
    name: "general",
    property: "name",
    value: "renamed",
  });
  const renamed = roster.serves(5);
  roster.follow({ type: "stream", id: 2, op: "delete", channelIds: [5] });

  assert.deepEqual([missing, renamed, roster.serves(5)], [[], true, false]);
});

Deno.test("with * the served channels follow the bot's subscriptions", () => {
  const roster = new Roster(["*"]);
  const channel = { id: 7, name: "x", isPrivate: false, isArchived: false };
  roster.reset([], [], [channel]);

  const before = roster.serves(7);
  roster.follow({ type: "subscription", id: 1, op: "add", channels: [channel] });
  const after = roster.serves(7);
  roster.follow({ type: "subscription", id: 2, op: "remove", channels: [channel] });

  assert.deepEqual([before, after, roster.serves(7)], [false, true, false]);
});

Deno.test("a post is found by its body, oldest first, never one that another post owns", () => {
  const messages = [{ id: 3, hash: "x" }, { id: 1, hash: "x" }, { id: 2, hash: "y" }];

  assert.equal(findOwn(messages, { hash: "x", taken: new Set([1]) }), 3);
  assert.equal(findOwn(messages, { hash: "x", taken: new Set() }), 1);
  assert.equal(findOwn(messages, { hash: "z", taken: new Set() }), null);
});

Deno.test("lanes run one key's work in order and go on after a failure", async () => {
  const lanes = new Lanes();
  const seen: string[] = [];
  const gate = Promise.withResolvers<void>();

  const first = lanes.run("a", async () => {
    await gate.promise;
    seen.push("a1");
    throw new Error("no");
  });
  const second = lanes.run("a", () => Promise.resolve(seen.push("a2")));
  await lanes.run("b", () => Promise.resolve(seen.push("b1")));
  gate.resolve();
  await assert.rejects(first);
  await second;

  assert.deepEqual(seen, ["b1", "a1", "a2"]);
});
