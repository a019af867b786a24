/**
 * The actor that every subject runs, as a pure actor: it counts, and answers with the count and with how late the message was. The answer is a row
 * (`bench.answered`) or, when the question asks for it, only a word (`bench.said`). Each durable question leaves one event.
 */
import type { Decision, PureActor } from "../../runtime/actor.ts";
import { runPure } from "../../runtime/pure_worker.ts";

interface State {
  readonly seq: number;
}

/** `n` numbers the question; `due` is when it was to arrive, in milliseconds since the epoch. */
interface Question {
  readonly token?: number;
  readonly n?: number;
  readonly due?: number;
}

const actor: PureActor<State> = {
  restore: (loaded) => ({ seq: (loaded as { seq: number }).seq }), // what the bench's load gives
  decide(state, { type, payload }, { now }): Decision<State> {
    const { token, n, due } = (payload ?? {}) as Question; // the bench's own messages
    const seq = state.seq + 1;
    const events = [{ seq, type: "counted", payload: { n: n ?? seq }, at: now }];
    const answer = { token, count: seq, lateMs: due === undefined ? undefined : now - due };
    const answered = { to: "edge", type: "bench.answered", payload: answer };
    const said = { to: "edge", type: "bench.said", payload: answer };
    switch (type) {
      case "bench.ask":
        return { state: { seq }, events, send: [answered] };
      case "bench.tell":
        return { state: { seq }, events, send: [said] };
      case "bench.add":
        return { state: { seq }, events };
      case "bench.ping":
        return { state, send: [said] };
      default:
        return { state };
    }
  },
};

runPure(actor);
