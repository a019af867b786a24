/** A one-time sign-in link, to be selected or copied. */
import { useSignal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { strings } from "../strings.ts";

const words = strings.settings;

/** The field, what to do with the link, and a button that copies it. `isNew`: it was just asked for, so the focus goes to it. */
export function SignInLink(
  { url, hint, isNew }: { readonly url: string; readonly hint: string; readonly isNew: boolean },
) {
  const isCopied = useSignal(false);
  const field = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => {
    if (isNew) field.current?.focus();
  }, []);
  const copy = async () => {
    await navigator.clipboard.writeText(url);
    isCopied.value = true;
  };
  return (
    <div class="device-link">
      <label class="field">
        <span>{words.linkLabel}</span>
        <input
          ref={field}
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
