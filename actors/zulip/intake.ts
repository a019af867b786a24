/**
 * One message in, from the queue, from recovered history or from the webhook: gates, command or conversation, and what to commit. A message
 * that arrives twice makes the same sends under the same dedupe text, so that it counts once. No I/O; the gateway commits what comes back.
 * Proven by `intake_test.ts`.
 */
import type { Effects, Send } from "../../runtime/actor.ts";
import type { Op } from "../../store/ops.ts";
import { type Mentionable, stripMentions } from "../../zulip/mention.ts";
import type { Message } from "../../zulip/wire/messages.ts";
import type { Choice } from "./buttons.ts";
import { type Command, help, parseCommand } from "./commands.ts";
import type { ZulipConfig } from "./config.ts";
import { type Drop, gate } from "./gates.ts";
import { type Journal, targetOf } from "./journal.ts";
import { offer, refusalOf } from "./model_choice.ts";
import type { Roster } from "./roster.ts";
import type { Target } from "../../zulip/client.ts";

/** What the intake works with. */
export interface IntakeDeps {
  readonly realm: string;
  readonly bot: Mentionable;
  readonly config: Pick<ZulipConfig, "dms" | "allowedUserIds" | "providers" | "defaultModel">;
  readonly journal: Journal;
  readonly roster: Roster;
  readonly newId: () => string;
}

/** A short answer of the gateway's own. `status`: the body is what the rows say of the conversation. */
export interface Reply {
  readonly key: string;
  readonly conversation: string;
  readonly target: Target;
  readonly body: string;
  readonly status?: boolean;
}

/** What to do about a message: commit the effects, then post the reply if there is one. */
export interface Intake {
  readonly effects: Effects;
  readonly dropped?: Drop;
  readonly reply?: Reply;
  /** A decision about a card; whether it counts is not the gateway's to say. */
  readonly choice?: Choice;
  /** A reaction says that a command was carried out. */
  readonly check?: number;
}

/** How the message came. `mark`: newest id handled by the queue, null for a webhook. */
export interface Arrival {
  readonly mark: number | null;
  readonly flagged: boolean;
}

/** Decides about one message. The journal's memory changes; the rows follow with the effects. */
export function intake(message: Message, arrival: Arrival, deps: IntakeDeps): Intake {
  const { journal, roster, config, bot } = deps;
  const command = parseCommand(stripMentions(message.content, bot));
  // Whoever may decide need not be one of those whom the bot obeys; approval knows.
  const isChoice = command.kind === "choice";
  const gated = gate(message, {
    bot,
    mark: arrival.mark,
    flagged: arrival.flagged,
    isBot: (id) => roster.isBot(id),
    serves: (id) => roster.serves(id),
    dms: config.dms,
    allowedUserIds: isChoice ? [] : config.allowedUserIds,
    isEngaged: ({ place }) => isChoice || journal.at(place) !== undefined,
  });
  if (!gated.pass) return { effects: {}, dropped: gated.why };
  if (command.kind === "choice") return { effects: {}, choice: command.choice };
  const respelled = journal.respell(message.place);
  if (command.kind !== "text") return carryOut(command, message, respelled, deps);

  const { conversation, op } = journal.ensure(message.place, deps.newId);
  const send: Send = {
    to: `conversation/${conversation}`,
    type: "conversation.message",
    dedupe: dedupe(deps.realm, message),
    payload: {
      text: command.text,
      author: authorOf(message),
      mode: "queue",
      source: sourceOf(message, deps.realm),
      title: titleOf(message),
      messageId: message.id,
      addressed: gated.addressed,
    },
  };
  return { effects: { ops: [op, ...respelled], send: [send] } };
}

function carryOut(
  command: Exclude<Command, { kind: "text" | "choice" }>,
  message: Message,
  ops: readonly Op[],
  deps: IntakeDeps,
): Intake {
  const conversation = deps.journal.at(message.place);
  const reply = (body: string) => replyTo(message, deps.journal, body);
  const order = (type: string, payload: Record<string, unknown>): Effects => ({
    ops,
    send: [{
      to: `conversation/${conversation}`,
      type,
      dedupe: dedupe(deps.realm, message),
      payload: { by: authorOf(message), ...payload },
    }],
  });
  switch (command.kind) {
    case "help":
      return { effects: { ops }, reply: reply(help) };
    case "unknown":
      return {
        effects: { ops },
        reply: reply(
          `There is no command \`!${command.word}\`. \`!help\` lists them; \`!!${command.word}\` sends it as text.`,
        ),
      };
    case "no_choice":
      return {
        effects: { ops },
        reply: reply(
          `\`!${command.word}\` takes what stands under a card's buttons, so nothing was decided. \`!!${command.word} …\` sends it as text.`,
        ),
      };
    case "surplus":
      return {
        effects: { ops },
        reply: reply(
          `\`!${command.word}\` takes no words after it, so nothing was done. \`!!${command.word} …\` sends it as text.`,
        ),
      };
    case "stop_all":
    case "resume_all":
      return switchEffects(command.kind, message, { ops, reply }, deps);
    case "model":
      if (command.model === null || !/^[^/\s]+\/\S+$/.test(command.model)) {
        return {
          effects: { ops },
          reply: reply(`Say \`!model provider/name\` to choose a model. ${offer(deps.config.providers)}`),
        };
      } else {
        const { providers, defaultModel } = deps.config;
        const refusal = command.model === defaultModel ? undefined : refusalOf(command.model, providers);
        if (refusal !== undefined) return { effects: { ops }, reply: reply(refusal) };
      }
  }
  if (conversation === undefined) {
    return { effects: { ops }, reply: reply("There is no conversation in this topic yet.") };
  }
  switch (command.kind) {
    case "status":
      return { effects: { ops }, reply: { ...reply(""), status: true } };
    case "stop":
      return { effects: order("conversation.stop", {}), check: message.id };
    case "new":
      return { effects: order("conversation.reset", {}), check: message.id };
    case "model":
      return { effects: order("conversation.set_model", { model: command.model }), check: message.id };
  }
}

/** The gateway's own short answer to a message, where it was written. */
export function replyTo(message: Message, journal: Journal, body: string): Reply {
  return {
    key: `reply/${message.id}`,
    conversation: journal.at(message.place) ?? `place/${message.id}`,
    target: targetOf(message.place),
    body,
  };
}

/** Stop everything, or lift it. Approval looks up who may, and says in the topic's conversation how it went. */
function switchEffects(
  kind: "stop_all" | "resume_all",
  message: Message,
  { ops, reply }: { readonly ops: readonly Op[]; readonly reply: (body: string) => Reply },
  { journal, realm }: IntakeDeps,
): Intake {
  const by = { surface: "zulip", zulipUserId: message.senderId, name: message.senderName };
  const command = { kind: kind === "stop_all" ? "effects.suspend" : "effects.resume" };
  const conversation = journal.at(message.place);
  const send: Send = {
    to: "approval",
    type: "approval.policy",
    dedupe: dedupe(realm, message),
    payload: { by, command, ...(conversation === undefined ? {} : { tell: conversation }) },
  };
  const effects = { ops, send: [send] };
  if (conversation !== undefined) return { effects };
  // No conversation, so nobody answers here; a check mark would say more than is known.
  return {
    effects,
    reply: reply(
      "Asked for. It holds if your Zulip account is linked to the owner; the inbox shows whether it does.",
    ),
  };
}

function authorOf(message: Message) {
  return { kind: "zulip", id: String(message.senderId), name: message.senderName };
}

function sourceOf({ place }: Message, realm: string) {
  return place.kind === "channel"
    ? { kind: "zulip", realm, channelId: place.channelId, channel: place.channelName, topic: place.topic }
    : { kind: "zulip", realm, userIds: place.users.map((user) => user.id) };
}

function titleOf({ place }: Message): string {
  if (place.kind === "channel") {
    return `${place.channelName} > ${place.topic === "" ? "general chat" : place.topic}`.slice(0, 200);
  }
  return place.users.map((user) => user.fullName).join(", ").slice(0, 200);
}

/** By what a message counts once, however often and in whatever way it comes. With its time: a realm that was restored from a backup gives numbers out again. */
export function dedupe(realm: string, { id, timestamp }: Message): string {
  return `zulip message ${realm} ${id} ${timestamp}`;
}
