/**
 * The dialog in which a person proves that it is still they, before a change that outlasts the session. A passkey comes first.
 * Proven by `tests/browser/policy_test.ts` and `tests/browser/passkey_test.ts`.
 */
import { useSignal } from "@preact/signals";
import { strings } from "../../strings.ts";
import { Dialog } from "../dialog.tsx";
import { Failure } from "../feedback.tsx";
import { useApp } from "../use_app.ts";

const words = strings.confirm;
/** The server's own bound. */
const MIN_LENGTH = 16;

/** The dialog, while somebody waits for it. */
export function ConfirmIdentity() {
  const { confirming } = useApp();
  return confirming.isAsking.value ? <Ask /> : null;
}

function Ask() {
  const { confirming, passkeys, session } = useApp();
  const byPasskey = passkeys.isSupported && session.me.value?.passkey === true;
  const text = useSignal("");
  const isShort = text.value.trim().length < MIN_LENGTH;
  return (
    <Dialog title={words.title} close={confirming.cancel}>
      <form
        class="dialog-form"
        onSubmit={(event) => {
          event.preventDefault();
          if (!isShort) void confirming.confirm(text.value);
        }}
      >
        <p>{words.body}</p>
        {byPasskey && (
          <button
            type="button"
            class="button primary large"
            autoFocus
            disabled={confirming.busy.value}
            onClick={() => void confirming.confirmByPasskey()}
          >
            {strings.passkeys.use}
          </button>
        )}
        <label class="field">
          <span>{words.token}</span>
          <input
            type="password"
            name="token"
            autocomplete="current-password"
            autoFocus={!byPasskey}
            aria-describedby="confirm-hint"
            value={text.value}
            onInput={(event) => text.value = event.currentTarget.value}
          />
          <span class="hint" id="confirm-hint">{words.hint}</span>
        </label>
        {confirming.error.value !== undefined && <Failure message={confirming.error.value} />}
        <div class="dialog-buttons">
          <button type="button" class="button" onClick={confirming.cancel}>{strings.policy.cancel}</button>
          <button
            type="submit"
            class={byPasskey ? "button" : "button primary"}
            disabled={isShort || confirming.busy.value}
          >
            {words.submit}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
