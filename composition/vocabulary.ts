/**
 * The product's catalogues in the shape that the runtime asks for.
 */
import { checkSend, kindOf, specOf } from "../actors/protocol.ts";
import type { Db } from "../store/db.ts";
import { readCatalogue } from "../store/reads.ts";
import type { RunRead, Vocabulary } from "../runtime/vocabulary.ts";

/** The message catalogue, for an installation with these kinds of actor. */
export function vocabularyFor(kinds: readonly string[]): Vocabulary {
  return {
    kindOf,
    check: checkSend,
    isRequest: (type) => specOf(type)?.request ?? false,
    // Without a Zulip account nobody shows cards and answers in topics.
    isAbsent: (ref) => ref !== "edge" && ref !== "supervisor" && !kinds.includes(kindOf(ref) ?? ""),
    keyOf: ({ payload, from }) => conversationIn(payload) ?? from,
  };
}

/** Mailboxes of gateways are bounded per conversation, so that a noisy one does not crowd out the others. */
function conversationIn(payload: unknown): string | undefined {
  if (typeof payload !== "object" || payload === null || !("conversation" in payload)) return undefined;
  return typeof payload.conversation === "string" ? `conversation/${payload.conversation}` : undefined;
}

/** Answers a gateway's named question. Rejects with `TypeError` when it is not for this kind. */
export function readsOf(db: Db): RunRead {
  return async (ref, kind, name, input) => {
    const spec = Object.hasOwn(readCatalogue, name) ? readCatalogue[name] : undefined;
    if (!spec?.by.includes(kind)) throw new TypeError(`read "${name}" is not for ${ref}`);
    return await spec.run(db, spec.schema.parse(input));
  };
}
