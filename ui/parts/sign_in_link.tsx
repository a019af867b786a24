/** A one-time sign-in link, to be selected or copied. */
import { useSignal } from "@preact/signals";
import { strings } from "../strings.ts";

const words = strings.settings;

/** The field, what to do with the link, and a button that copies it. */
export function SignInLink({ url, hint }: { readonly url: string; readonly hint: string }) {
  const isCopied = useSignal(false);
  const copy = async () => {
    await navigator.clipboard.writeText(url);
    isCopied.value = true;
  };
  return (
    <div class="device-link">
      <label class="field">
        <span>{words.linkLabel}</span>
        <input
          type="text"
          class="mono"
          readOnly
          value={url}
          onFocus={(event) => event.currentTarget.select()}
        />
      </label>
      <p class="hint">{hint}</p>
      <button type="button" class="button" onClick={() => void copy()}>
        {isCopied.value ? words.copied : words.copy}
      </button>
    </div>
  );
}
