/**
 * How an item goes: the decision on its way, decided and waiting to take effect, applied, failed, or lost to somebody faster. Announced to screen
 * readers as it changes; never ahead of the server.
 */
import type { ReadonlySignal } from "@preact/signals";
import type { Item } from "../../../edge/api.ts";
import { printableLine } from "../../../lib/printable.ts";
import { HostileText } from "../../render/hostile_text.tsx";
import { strings } from "../../strings.ts";
import { GivenAnswer, wordOf } from "./given_answer.tsx";
import { Icon } from "../icons.tsx";
import { Age } from "../times.tsx";
import { mayAct, useApp } from "../use_app.ts";

/** The status lines of a card. */
export function ItemOutcome({ item }: { readonly item: Item }) {
  const app = useApp();
  const deciding = app.inbox.deciding.value.get(item.id);
  const undoUntil = undoUntilOf(item, app.now);
  return (
    <div class="outcome" aria-live="polite">
      {item.state === "waiting" && item.firstApproval && (
        <p class="outcome-line">
          {strings.decide.second(printableLine(item.firstApproval.by))} <Age at={item.firstApproval.at} />
        </p>
      )}
      {item.state === "waiting" && item.delegatedTo && (
        <p class="outcome-line">
          {(item.escalated ? strings.decide.escalatedTo : strings.decide.delegated)(
            printableLine(item.delegatedTo.name),
          )}
        </p>
      )}
      {deciding?.phase === "refused" && (
        <p class="outcome-line outcome-refused">
          <Icon name="alert" />
          <span>{strings.decide.refused(deciding.message)}</span>
        </p>
      )}
      {deciding?.phase === "sending" && <p class="outcome-line outcome-sending">{strings.decide.sending}</p>}
      {item.decision && <Decided item={item} decision={item.decision} />}
      {item.state !== "waiting" &&
        (undoUntil === undefined ? <Ended item={item} /> : <TakeBack item={item} until={undoUntil} />)}
    </div>
  );
}

type Decision = NonNullable<Item["decision"]>;

function Decided({ item, decision }: { readonly item: Item; readonly decision: Decision }) {
  const { decisions } = strings;
  return (
    <>
      <p class={`outcome-line outcome-${toneOf(decision)}`}>
        <span>
          <strong>{wordOf(item, decision)}</strong> {decisions.by(decision.by, decision.surface)}
        </span>
        <Age at={decision.at} />
      </p>
      {decision.note !== undefined && (
        <blockquote>
          <HostileText text={decision.note} />
        </blockquote>
      )}
      <GivenAnswer item={item} decision={decision} />
      {item.state === "decided" && <p class="outcome-line outcome-sending">{strings.decide.decided}</p>}
    </>
  );
}

/**
 * Until when the allowed call has not begun and can be taken back. Approval applies a decision at once and only hands the call over later, so an
 * item is `applied` meanwhile. The clock is read only for an item that has such a time.
 */
function undoUntilOf({ state, decision }: Item, now: ReadonlySignal<number>): number | undefined {
  if (decision?.undoUntil === undefined || state !== "decided" && state !== "applied") return undefined;
  return now.value < decision.undoUntil ? decision.undoUntil : undefined;
}

/** The way back while the call has not begun. */
function TakeBack({ item, until }: { readonly item: Item; readonly until: number }) {
  const app = useApp();
  return (
    <p class="outcome-line">
      {mayAct(app) && (
        <button type="button" class="button" onClick={() => void app.inbox.undo(item)}>
          {strings.decide.takeBack}
        </button>
      )}
      <span>{strings.decide.beginsIn(Math.ceil((until - app.now.value) / 1_000))}</span>
    </p>
  );
}

function Ended({ item }: { readonly item: Item }) {
  const { now } = useApp();
  if (item.state === "decided") return null;
  if (item.unknownOutcome && item.state === "applied") {
    return (
      <p class="outcome-line state-failed">
        <Icon name="alert" />
        <span>
          <strong>{strings.inbox.unknownOutcome}.</strong> {strings.inbox.unknownOutcomeBody}
        </span>
      </p>
    );
  }
  // The line above says it already: nothing ran that could be done.
  if (isRefusal(item) && item.note === undefined) return null;
  return (
    <p class={`outcome-line state-${toneOfEnd(item)}`}>
      {item.state === "applied" && !isRefusal(item) && <Icon name="check" />}
      <span>
        <strong>{endOf(item, now)}</strong>
        {item.note !== undefined && (
          <>
            : <HostileText text={item.note} />
          </>
        )}
      </span>
    </p>
  );
}

/** A no that took effect: nothing ran. */
function isRefusal(item: Item): boolean {
  return item.state === "applied" && item.decision !== undefined && toneOf(item.decision) === "no";
}

/** How an item ended, in one or two words: a no is no *done*. */
export function endOf(item: Item, now: ReadonlySignal<number>): string {
  if (undoUntilOf(item, now) !== undefined) return strings.inbox.states.decided;
  if (item.unknownOutcome && item.state === "applied") return strings.inbox.unknownOutcome;
  return isRefusal(item) && item.decision ? wordOf(item, item.decision) : strings.inbox.states[item.state];
}

/** The style of `endOf`, as `state-…`. */
export function toneOfEnd(item: Item): Item["state"] | "rejected" {
  if (item.unknownOutcome && item.state === "applied") return "failed";
  return isRefusal(item) ? "rejected" : item.state;
}

function toneOf({ decision }: Decision): "yes" | "no" {
  return decision === "reject_once" || decision === "reject_always" || decision === "cancel" ? "no" : "yes";
}
