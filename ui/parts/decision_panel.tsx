/**
 * The ways to decide on a call. One tap rejects with a note or allows a call of low or medium risk; high risk asks once more, with the two answers far
 * apart; so does *for this session*, whatever the risk. What the policy would refuse (a session where nothing sandboxes the call) is not offered.
 */
import { useSignal } from "@preact/signals";
import type { Item } from "../../edge/api.ts";
import { strings } from "../strings.ts";
import { AlwaysForm } from "./always_form.tsx";
import { cardKeys } from "./card_keys.ts";
import { DelegateForm } from "./delegate_form.tsx";
import { EditArguments } from "./edit_arguments.tsx";
import { LaterForm } from "./later_form.tsx";
import { RejectForm } from "./reject_form.tsx";
import { SessionForm } from "./session_form.tsx";
import { isOwner, mayAct, useApp } from "./use_app.ts";

const words = strings.decide;

type Mode = "choose" | "reject" | "edit" | "confirm" | "session" | "always" | "delegate" | "later";

/** Buttons and the forms that they open. */
export function DecisionPanel({ item }: { readonly item: Item }) {
  const app = useApp();
  const mode = useSignal<Mode>("choose");
  const isBusy = app.inbox.deciding.value.get(item.id)?.phase === "sending";
  if (!mayAct(app)) return <p class="hint">{words.viewOnly}</p>;
  const back = () => {
    mode.value = "choose";
  };
  switch (mode.value) {
    case "reject":
      return <RejectForm item={item} busy={isBusy} back={back} />;
    case "edit":
      return <EditArguments item={item} busy={isBusy} back={back} />;
    case "confirm":
      return <Confirm item={item} busy={isBusy} back={back} />;
    case "session":
      return <SessionForm item={item} busy={isBusy} back={back} />;
    case "always":
      return <AlwaysForm item={item} busy={isBusy} back={back} />;
    case "delegate":
      return <DelegateForm item={item} back={back} />;
    case "later":
      return <LaterForm item={item} back={back} />;
    case "choose":
      return <Choose item={item} busy={isBusy} choose={(next) => mode.value = next} />;
    default:
      return mode.value satisfies never;
  }
}

interface ChooseProps {
  readonly item: Item;
  readonly busy: boolean;
  readonly choose: (mode: Mode) => void;
}

function Choose({ item, busy, choose }: ChooseProps) {
  const { inbox } = useApp();
  const isHigh = item.risk === "high";
  const allow = () => isHigh ? choose("confirm") : void inbox.decide(item, { decision: "allow_once" });
  return (
    <div class="decide" role="group" aria-label={words.group(item.tool ?? strings.inbox.kinds[item.kind])}>
      <div class={isHigh ? "decide-main decide-apart" : "decide-main"}>
        <button
          type="button"
          class="button danger large"
          disabled={busy}
          data-key={cardKeys.reject}
          onClick={() =>
            choose("reject")}
        >
          {words.reject}
        </button>
        <button
          type="button"
          class="button primary large"
          disabled={busy}
          data-key={cardKeys.allow}
          onClick={allow}
        >
          {words.allow}
        </button>
      </div>
      <MoreWays item={item} busy={busy} choose={choose} />
      {item.described?.askOnce === true && <p class="hint">{strings.inbox.askOnce}</p>}
    </div>
  );
}

/** What is chosen less often: beyond this one call, with other arguments, at another time, by somebody else. */
function MoreWays({ item, busy, choose }: ChooseProps) {
  const app = useApp();
  const { inbox } = app;
  const mayEdit = typeof item.arguments === "object" && item.arguments !== null &&
    !Array.isArray(item.arguments);
  return (
    <div class="decide-more">
      {item.described?.askOnce !== true && (
        <Way
          label={words.session}
          busy={busy}
          data-key={cardKeys.session}
          onClick={() => choose("session")}
        />
      )}
      {isOwner(app) && <Way label={words.always} busy={busy} onClick={() => choose("always")} />}
      {mayEdit && (
        <Way
          label={words.edit}
          busy={busy}
          data-key={cardKeys.edit}
          onClick={() => choose("edit")}
        />
      )}
      <Way label={words.later} busy={busy} onClick={() => choose("later")} />
      <Way label={words.delegate} busy={busy} onClick={() => choose("delegate")} />
      <Way label={words.stop} busy={busy} onClick={() => void inbox.decide(item, { decision: "cancel" })} />
    </div>
  );
}

interface WayProps {
  readonly label: string;
  readonly busy: boolean;
  readonly "data-key"?: string;
  readonly onClick: () => void;
}

function Way({ label, busy, ...rest }: WayProps) {
  return <button type="button" class="button quiet" disabled={busy} {...rest}>{label}</button>;
}

/** The second word on a call of high risk. */
function Confirm(
  { item, busy, back }: { readonly item: Item; readonly busy: boolean; readonly back: () => void },
) {
  const { inbox } = useApp();
  return (
    <div class="decide decide-form" role="group" aria-label={words.confirmHighTitle}>
      <p class="form-title">{words.confirmHighTitle}</p>
      <div class="decide-main decide-apart">
        <button type="button" class="button large" autoFocus onClick={back}>{words.cancel}</button>
        <button
          type="button"
          class="button danger-solid large"
          disabled={busy}
          onClick={() => void inbox.decide(item, { decision: "allow_once" })}
        >
          {words.confirmHigh}
        </button>
      </div>
    </div>
  );
}
