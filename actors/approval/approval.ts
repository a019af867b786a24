/**
 * The approval actor: nothing with an effect happens until it lets it. It judges described calls by policy, keeps what waits for a person, applies
 * decisions and records them in a hash chain whose only writer it is. Pure and synchronous; it knows no model, no file and no network.
 * `judging` says yes, no or ask; `items` is the life of what waits; `calling` brings people to it; `deciding` applies what they said; `policy`
 * changes the rules of it all. Proven by the `*_test.ts` beside it and in those folders, against a real database.
 */
import type { Decision, Env, Envelope, PureActor } from "../../runtime/actor.ts";
import type { Message } from "../protocol.ts";
import { onDecide } from "./deciding/apply_decision.ts";
import { onBypassExpire } from "./policy/bypasses.ts";
import { Draft } from "./draft.ts";
import { onCancel, onExpire, onRequestFailed, onSessionEnded } from "./items/endings.ts";
import { onUndescribed } from "./deciding/edit.ts";
import { onJudge } from "./judging/judge_call.ts";
import { onMarked } from "./calling/marks.ts";
import { onPersonChanged } from "./policy/people_log.ts";
import { onPolicy } from "./policy/policy_change.ts";
import { onQuestion, onWithdrawn } from "./items/questions.ts";
import { onCardGone, onCardShown, onPeople, onReact } from "./deciding/reactions.ts";
import { onPushSent } from "./calling/push.ts";
import { onRemind } from "./calling/reminders.ts";
import { onRestartDone, onRestartWanted } from "./items/restarts.ts";
import { type ApprovalState, restore } from "./state.ts";
import { onHeld } from "./deciding/suspension.ts";
import { onToolsKnown, onToolsList } from "./judging/tools.ts";

/** The actor, as `runtime/pure_worker.ts` runs it. */
export const approval: PureActor<ApprovalState> = { restore, decide };

function decide(state: ApprovalState, message: Envelope, env: Env): Decision<ApprovalState> {
  const draft = new Draft(state, env);
  // The supervisor has parsed the payload against the catalogue and checked who may say it.
  handle(draft, message as Message);
  return draft.decision();
}

function handle(draft: Draft, message: Message): void {
  switch (message.type) {
    case "tool.judge":
      return onJudge(draft, message.payload);
    case "tool.undescribed":
      return onUndescribed(draft, message.payload);
    case "tool.held":
      return onHeld(draft, message.payload);
    case "tool.cancel":
      return onCancel(draft, message.payload, message.from);
    case "tools.known":
      return onToolsKnown(draft, message.payload);
    case "tools.list":
      return onToolsList(draft, message.payload, message.from);
    case "question.raise":
      return onQuestion(draft, message.payload);
    case "question.withdrawn":
      return onWithdrawn(draft, message.payload);
    case "approval.decide":
      return onDecide(draft, message.payload, message.from);
    case "approval.react":
      return onReact(draft, message.payload);
    case "approval.expire":
      return onExpire(draft, message.payload);
    case "restart.wanted":
      return onRestartWanted(draft, message.payload);
    case "restart.done":
      return onRestartDone(draft, message.payload);
    case "approval.remind":
      return onRemind(draft, message.payload);
    case "item.marked":
      return onMarked(draft, message.payload);
    case "approval.policy":
      return onPolicy(draft, message.payload, message.from);
    case "person.changed":
      return onPersonChanged(draft, message.payload);
    case "people.known":
      return onPeople(draft, message.payload);
    case "card.shown":
      return onCardShown(draft, message.payload);
    case "bypass.expire":
      return onBypassExpire(draft, message.payload);
    case "push.sent":
      return onPushSent(draft, message.payload);
    case "card.gone":
      return onCardGone(draft, message.payload);
    case "session.ended":
      return onSessionEnded(draft, message.payload, message.from);
    case "request.failed":
      return onRequestFailed(draft, message.payload);
    default:
      // `actor.woke` needs nothing: alarms are messages.
      return;
  }
}
