/**
 * One's own passkeys in the settings: add, rename, remove; the last way in only after a word that says so. Proven by
 * `tests/browser/passkey_test.ts`.
 */
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { PasskeyView } from "../../edge/api.ts";
import { strings } from "../strings.ts";
import { ConfirmButton } from "./confirm_button.tsx";
import { Failure, Skeleton } from "./feedback.tsx";
import { Age } from "./times.tsx";
import { useApp } from "./use_app.ts";

const words = strings.passkeys;

/** The section. */
export function Passkeys() {
  const { passkeys, session } = useApp();
  useEffect(() => {
    void passkeys.loadOffer();
    void passkeys.load();
  }, []);
  const { list, why, error, busy, isOffered } = passkeys;
  return (
    <section class="card" aria-labelledby="passkeys">
      <h2 id="passkeys">{words.title}</h2>
      <p class="hint">{why.value ?? words.note}</p>
      {error.value !== undefined && <Failure message={error.value} />}
      {list.value === undefined
        ? error.value === undefined && <Skeleton label={words.loading} kind="line" rows={1} />
        : (
          <ul class="devices passkeys">
            {list.value.passkeys.map((passkey) => <Row key={passkey.id} passkey={passkey} />)}
          </ul>
        )}
      {isOffered.value === true && (
        <button
          type="button"
          class="button"
          disabled={busy.value}
          onClick={() => void passkeys.add(session.me.value?.device.name ?? words.title)}
        >
          {words.add}
        </button>
      )}
    </section>
  );
}

function Row({ passkey }: { readonly passkey: PasskeyView }) {
  const { passkeys } = useApp();
  const isRenaming = useSignal(false);
  const { id, name, usedAt, synced } = passkey;
  if (isRenaming.value) return <Rename passkey={passkey} leave={() => isRenaming.value = false} />;
  const list = passkeys.list.value;
  const isLast = list?.lastWayIn === true && list.passkeys.length === 1;
  return (
    <li>
      <span>
        <strong>{name}</strong>{" "}
        <span class="faint">
          {usedAt === null ? words.unused : <Age at={usedAt} />}
          {synced && ` · ${words.synced}`}
        </span>
      </span>
      <span class="row-buttons">
        <button
          type="button"
          class="button quiet small"
          aria-label={words.renameLabel(name)}
          onClick={() => isRenaming.value = true}
        >
          {words.rename}
        </button>
        <ConfirmButton
          label={words.remove}
          name={words.removeLabel(name)}
          confirm={isLast ? words.removeLast : words.removeConfirm}
          onConfirm={() => void passkeys.remove(id)}
        />
      </span>
    </li>
  );
}

function Rename({ passkey, leave }: { readonly passkey: PasskeyView; readonly leave: () => void }) {
  const { passkeys } = useApp();
  const text = useSignal(passkey.name);
  return (
    <li>
      <form
        class="passkey-name"
        onSubmit={(event) => {
          event.preventDefault();
          leave();
          void passkeys.rename(passkey.id, text.value);
        }}
        onKeyDown={(event) => event.key === "Escape" && leave()}
      >
        <input
          type="text"
          aria-label={words.name}
          autoFocus
          required
          maxLength={100}
          value={text.value}
          onInput={(event) => text.value = event.currentTarget.value}
        />
        <button type="submit" class="button small">{words.save}</button>
      </form>
    </li>
  );
}
