/**
 * What the runtime noticed, told where people look: in the topic of the conversation it concerns, in the inbox, and in the log. Pure but for the two
 * outlets. Proven by `composition_test.ts`.
 */
import type { Send } from "../runtime/actor.ts";
import type { Log } from "../runtime/log.ts";
import type { Note } from "../runtime/tree.ts";

/** Where notes go. */
export interface NoteOutlets {
  readonly log: Log;
  readonly send: (send: Send) => void;
  /** False: there is no Zulip to tell. */
  readonly zulip: boolean;
}

/** Tells a note. */
export function tellNote(note: Note, { log, send, zulip }: NoteOutlets): void {
  const { type, ...facts } = note;
  log("warn", `runtime: ${type}`, facts);
  const parked = note.type === "parked" ? conversationOf(note.ref) : undefined;
  if (note.type === "parked" && parked !== undefined) {
    const payload = { conversation: parked, reason: note.reason.slice(0, 1_000) };
    send({ to: "approval", type: "restart.wanted", payload });
  }
  const told = topicNote(note);
  if (!told || !zulip) return;
  send({ to: "zulip", type: "topic.note", payload: told, dedupe: `note ${told.key}` });
}

/** The note for the topic, or undefined when no conversation is concerned. */
export function topicNote(note: Note): { conversation: string; key: string; text: string } | undefined {
  switch (note.type) {
    case "parked": {
      const conversation = conversationOf(note.ref);
      if (conversation === undefined) return undefined;
      return {
        conversation,
        key: `parked ${conversation} ${note.reason}`.slice(0, 200),
        text:
          "⚠️ This conversation crashed too often and is paused. Its messages are kept; restart it on the Actors page.",
      };
    }
    case "poison": {
      const conversation = conversationOf(note.ref) ?? conversationOf(note.from);
      if (conversation === undefined) return undefined;
      return {
        conversation,
        key: `poison ${note.message}`,
        text:
          `⚠️ A message (\`${note.messageType}\`) could not be handled and was set aside. The conversation goes on without it.`,
      };
    }
    case "held": {
      const conversation = conversationOf(note.ref);
      if (conversation === undefined) return undefined;
      return {
        conversation,
        // Once a hold, not once a message.
        key: `held ${conversation} ${note.since}`,
        text: `⚠️ This waits: ${note.reason}. It goes on by itself when that is over.`,
      };
    }
    case "refused": {
      const conversation = conversationOf(note.to) ?? conversationOf(note.from);
      if (conversation === undefined || note.code !== "mailbox_full") return undefined;
      return {
        conversation,
        // Once an overload, not once a message.
        key: `full ${conversation} ${Math.floor(Date.now() / 600_000)}`,
        text: "⚠️ Too many messages are waiting here, so the last one was not taken. Send it again later.",
      };
    }
  }
}

function conversationOf(ref: string): string | undefined {
  return ref.startsWith("conversation/") ? ref.slice("conversation/".length) : undefined;
}
