/**
 * Moves the focus to what has just been opened, so that keyboard and screen reader follow the tap.
 */
import type { RefObject } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

/** A ref whose element is focused when it appears. */
export function useFocus<Element extends HTMLElement>(): RefObject<Element | null> {
  const ref = useRef<Element>(null);
  useLayoutEffect(() => ref.current?.focus(), []);
  return ref;
}
