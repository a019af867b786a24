/**
 * The way out of a parked conversation: its actor is started again, its mailbox was kept.
 */
import type { Item } from "../../../edge/api.ts";
import { strings } from "../../strings.ts";
import { mayAct, useApp } from "../use_app.ts";

/** One button. */
export function RestartPanel({ item }: { readonly item: Item }) {
  const app = useApp();
  const ref = `conversation/${item.conversation.id}`;
  const isAsked = app.actors.restarting.value.has(ref);
  if (!mayAct(app)) return <p class="hint">{strings.decide.viewOnly}</p>;
  return (
    <div class="decide">
      <div class="decide-main">
        <button
          type="button"
          class="button primary large"
          disabled={isAsked}
          onClick={() => void app.actors.restart(ref)}
        >
          {isAsked ? strings.decide.restarting : strings.decide.restart}
        </button>
      </div>
    </div>
  );
}
