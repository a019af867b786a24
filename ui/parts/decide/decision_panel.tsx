/**
 * The ways to decide on a call. One tap rejects with a note or allows a call of low or medium risk; high risk asks once more, with the two answers far
 * apart; so does *for this session*, whatever the risk. What the server would refuse is not offered: a session where nothing sandboxes the call, an edit
 * of what two people must allow, a second allowance by the same person.
 */
import { useSignal } from "@preact/signals";
import type { Item } from "../../../edge/api.ts";
import { strings } from "../../strings.ts";
import { AlwaysForm } from "./always_form.tsx";
import { cardKeys } from "../inbox/card_keys.ts";
import { EditArguments } from "./edit_arguments.tsx";
import { type Mark, MarkForm, MarkWays, Way } from "./mark_ways.tsx";
import { RejectForm } from "./reject_form.tsx";
import { SessionForm } from "./session_form.tsx";
import { isOwner, mayAct, useApp } from "../use_app.ts";
import { useFocus } from "../use_focus.ts";

const words = strings.decide;

type Mode = "choose" | "reject" | "edit" | "confirm" | "session" | "always" | Mark;

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
    case "later":
      return <MarkForm mark={mode.value} item={item} back={back} />;
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
  const { inbox, session } = useApp();
  const isHigh = item.risk === "high";
  const hasAllowed = item.firstApproval !== undefined &&
    item.firstApproval.id === session.me.value?.user.id;
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
        {!hasAllowed && (
          <button
            type="button"
            class="button primary large"
            disabled={busy}
            data-key={cardKeys.allow}
            onClick={allow}
          >
            {words.allow}
          </button>
        )}
      </div>
      <MoreWays item={item} busy={busy} choose={choose} hasAllowed={hasAllowed} />
      {item.described?.askOnce === true && <p class="hint">{strings.inbox.askOnce}</p>}
    </div>
  );
}

/** What is chosen less often: beyond this one call, with other arguments, at another time, by somebody else. */
function MoreWays({ item, busy, choose, hasAllowed }: ChooseProps & { readonly hasAllowed: boolean }) {
  const app = useApp();
  const { inbox } = app;
  const mayEdit = item.twoPersons !== true && typeof item.arguments === "object" && item.arguments !== null &&
    !Array.isArray(item.arguments);
  return (
    <div class="decide-more">
      {item.described?.askOnce !== true && !hasAllowed && (
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
      <MarkWays busy={busy} choose={choose} />
      <Way label={words.stop} busy={busy} onClick={() => void inbox.decide(item, { decision: "cancel" })} />
    </div>
  );
}

/** The second word on a call of high risk; Escape takes the first one back. */
function Confirm(
  { item, busy, back }: { readonly item: Item; readonly busy: boolean; readonly back: () => void },
) {
  const { inbox } = useApp();
  const focus = useFocus<HTMLButtonElement>();
  return (
    <div
      class="decide decide-form"
      role="group"
      aria-label={words.confirmHighTitle}
      onKeyDown={(event) => event.key === "Escape" && back()}
    >
      <p class="form-title">{words.confirmHighTitle}</p>
      <div class="decide-main decide-apart">
        <button ref={focus} type="button" class="button large" onClick={back}>{words.cancel}</button>
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
