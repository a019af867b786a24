/**
 * A button that takes a second word before it does what cannot be taken back. Escape and *keep* leave everything as it is.
 */
import { useSignal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { strings } from "../strings.ts";

interface ConfirmButtonProps {
  readonly label: string;
  /** What a screen reader calls the first button. */
  readonly name?: string;
  readonly confirm: string;
  readonly keep?: string;
  readonly class?: string;
  readonly disabled?: boolean;
  readonly onConfirm: () => void;
}

/** The button, or the question with its two answers. */
export function ConfirmButton(
  {
    label,
    name,
    confirm,
    keep = strings.policy.keep,
    class: className = "button quiet small",
    disabled,
    onConfirm,
  }: ConfirmButtonProps,
) {
  const isAsking = useSignal(false);
  const first = useRef<HTMLButtonElement>(null);
  const back = useRef<HTMLButtonElement>(null);
  const wasAsking = useRef(false);
  useLayoutEffect(() => {
    if (isAsking.value) back.current?.focus();
    else if (wasAsking.current) first.current?.focus();
    wasAsking.current = isAsking.value;
  }, [isAsking.value]);
  if (!isAsking.value) {
    return (
      <button
        ref={first}
        type="button"
        class={className}
        aria-label={name}
        aria-disabled={disabled}
        onClick={() => isAsking.value = disabled !== true}
      >
        {label}
      </button>
    );
  }
  const leave = () => {
    isAsking.value = false;
  };
  return (
    <span
      class="confirm"
      role="group"
      aria-label={confirm}
      onKeyDown={(event) => event.key === "Escape" && leave()}
    >
      <button ref={back} type="button" class="button small" onClick={leave}>{keep}</button>
      <button
        type="button"
        class="button danger-solid small"
        onClick={() => {
          leave();
          onConfirm();
        }}
      >
        {confirm}
      </button>
    </span>
  );
}
