/** Proves that a button's reply names one card and one version, and that a form by anybody else is known for what it is. */
import assert from "node:assert/strict";
import type { Message } from "../../zulip/wire/messages.ts";
import { stripMentions } from "../../zulip/mention.ts";
import { buttonsBody, buttonsWidget, codeOf, isForeignForm } from "./buttons.ts";
import { parseCommand } from "./commands.ts";

const bot = { id: 9, fullName: "Callboard" };
const body = buttonsBody({ messageId: 812, version: 3, code: codeOf("0192f-abcd-12ab34cd") });

Deno.test("what a button sends is read as the choice that it shows", () => {
  const { widget_type, extra_data } = JSON.parse(buttonsWidget(body, bot) ?? "");

  assert.equal(widget_type, "zform");
  const read = extra_data.choices.map(({ long_name, reply }: { long_name: string; reply: string }) => [
    long_name,
    parseCommand(stripMentions(reply, bot)),
  ]);
  const choice = { messageId: 812, version: 3, code: "12ab34cd" };
  assert.deepEqual(read, [
    ["Allow once", { kind: "choice", choice: { ...choice, decision: "allow" } }],
    ["Reject", { kind: "choice", choice: { ...choice, decision: "reject" } }],
  ]);
  assert.equal(buttonsWidget("any other text", bot), undefined);
});

Deno.test.each([
  ["!allow", { kind: "no_choice", word: "allow" }],
  ["!allow it please", { kind: "no_choice", word: "allow" }],
  ["!reject 812-3", { kind: "no_choice", word: "reject" }],
  ["!allow 812-3-12ab34cd now", { kind: "no_choice", word: "allow" }],
  ["/allow me to explain", { kind: "text", text: "/allow me to explain" }],
  ["!!allow it", { kind: "text", text: "!allow it" }],
])("$0 decides nothing", (text, command) => {
  assert.deepEqual(parseCommand(text), command);
});

Deno.test.each([
  ["a form of one's own", 9, '{"widget_type":"zform","extra_data":{}}', false],
  ["somebody's form", 1, '{"widget_type":"zform","extra_data":{}}', true],
  ["somebody's poll", 1, '{"widget_type":"poll","extra_data":{}}', false],
  ["what nobody can read", 1, "{", true],
  ["a widget yet unknown", 1, '{"widget_type":"next"}', true],
])("$0: whether its buttons could send a choice unseen", (_what, senderId, content, foreign) => {
  // Only what is looked at.
  const message = {
    senderId,
    submessages: [{ id: 1, senderId, msgType: "widget", content }],
  } as unknown as Message;

  assert.equal(isForeignForm(message, 9), foreign);
});
