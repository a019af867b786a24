/**
 * What a list says when it has nothing to show: still reading (with the shape of what will come, so that nothing jumps), empty, or failed with what to
 * do about it.
 */
import type { ComponentChildren } from "preact";
import { strings } from "../strings.ts";
import { Icon, type IconName } from "./icons.tsx";

/** Placeholders in the shape of `rows` cards. */
export function Skeleton(
  { label, rows = 3, kind }: { label: string; rows?: number; kind: "card" | "row" | "line" },
) {
  return (
    <div class="skeleton-list" role="status">
      <span class="visually-hidden">{label}</span>
      {Array.from({ length: rows }, (_, index) => <div key={index} class={`skeleton skeleton-${kind}`} />)}
    </div>
  );
}

interface EmptyProps {
  readonly icon: IconName;
  readonly title: string;
  /** It is all that the screen shows: its title is the screen's. */
  readonly isScreen?: boolean;
  readonly children: ComponentChildren;
}

/** Nothing here, and why that is fine. */
export function Empty({ icon, title, isScreen = false, children }: EmptyProps) {
  return (
    <div class="empty">
      <span class="empty-icon">
        <Icon name={icon} />
      </span>
      {isScreen ? <h1 class="empty-title">{title}</h1> : <p class="empty-title">{title}</p>}
      <div class="empty-body">{children}</div>
    </div>
  );
}

/** It did not work; `retry` tries again. */
export function Failure({ message, retry }: { readonly message: string; readonly retry?: () => void }) {
  return (
    <div class="failure" role="alert">
      <Icon name="alert" />
      <p>{message}</p>
      {retry && <button type="button" class="button small" onClick={retry}>{strings.errors.retry}</button>}
    </div>
  );
}
