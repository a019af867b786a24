/**
 * The keys of the inbox, for whoever asks with `?`.
 */
import { strings } from "../../strings.ts";
import { cardKeys } from "./card_keys.ts";
import { Dialog } from "../dialog.tsx";

const words = strings.inbox.keyHelp;

const rows: readonly (readonly [keys: readonly string[], what: string])[] = [
  [["j", "k"], words.move],
  [[cardKeys.allow], words.allow],
  [[cardKeys.session], words.session],
  [[cardKeys.reject], words.reject],
  [[cardKeys.edit], words.edit],
  [[cardKeys.select], words.select],
  [["o", "Enter"], words.open],
  [["Esc"], words.leave],
  [["?"], words.help],
];

/** The dialog. */
export function KeyHelp({ close }: { readonly close: () => void }) {
  return (
    <Dialog title={words.title} close={close}>
      <div class="dialog-form">
        <dl class="key-list">
          {rows.map(([keys, what]) => (
            <div key={what}>
              <dt>{keys.map((key) => <kbd key={key}>{key}</kbd>)}</dt>
              <dd>{what}</dd>
            </div>
          ))}
        </dl>
        <p class="hint">{words.note}</p>
        <div class="dialog-buttons">
          <button type="button" class="button primary" onClick={close}>{words.close}</button>
        </div>
      </div>
    </Dialog>
  );
}
