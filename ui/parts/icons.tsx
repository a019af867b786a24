/**
 * Our own icons and the wordmark, drawn on a 24 px grid with one stroke. Decorative: the text beside them says what they mean.
 */
import type { VNode } from "preact";

const paths = {
  inbox: "M4 13l2.5-8h11L20 13v6H4v-6zm0 0h5l1 2h4l1-2h5",
  chats: "M4 5h16v11H10l-4 3.5V16H4V5zM8 9h8M8 12h5",
  actors: "M12 4v5M5 20v-4.5h14V20M12 9v6.500M9 4h6M3.5 20h3M17.5 20h3M10.5 20h3M12 15.500V20",
  settings: "M4 7h9M17 7h3M4 17h3M11 17h9M13 7a2 2 0 104 0 2 2 0 10-4 0M7 17a2 2 0 104 0 2 2 0 10-4 0",
  back: "M14.5 5.500L8 12l6.5 6.5",
  send: "M12 19V6M6.5 11.500L12 6l5.5 5.5",
  stop: "M8 8h8v8H8z",
  plus: "M12 5v14M5 12h14",
  up: "M12 19V6M6.5 11.500L12 6l5.5 5.5",
  down: "M12 5v13M6.5 12.500L12 18l5.5-5.5",
  shield: "M12 4l7 2.500V12c0 4-3 6.5-7 8-4-1.5-7-4-7-8V6.500L12 4zM9 12l2.200 2.200L15 10.5",
  alert: "M12 4l9 16H3l9-16zM12 10v4.500M12 17v.500",
  policy: "M12 4l7 2.500V12c0 4-3 6.500-7 8-4-1.500-7-4-7-8V6.500L12 4zM12 9v4M12 15.500v.500",
  rules: "M5 7h2M10 7h9M5 12h2M10 12h9M5 17h2M10 17h9",
  try: "M8 5l10 7-10 7z",
  bypasses: "M12 5a7 7 0 107 7M12 8v4l3 2M15 4l4 1-1 4",
  profiles:
    "M12 12a3.500 3.500 0 100-7 3.500 3.500 0 000 7zM5 20c.600-3.600 3.400-5.500 7-5.500s6.400 1.900 7 5.500",
  schedules: "M5 6h14v13H5zM5 10h14M9 4v4M15 4v4",
  gate: "M7 4h10M7 20h10M8 4c0 4 4 5 4 8s-4 4-4 8M16 4c0 4-4 5-4 8s4 4 4 8",
  audit: "M7 4h8l3 3v13H7zM10 10h5M10 13h5M10 16h3",
  halt: "M8.500 4h7L20 8.500v7L15.500 20h-7L4 15.500v-7zM9 12h6",
  next: "M9.500 5.500L16 12l-6.500 6.500",
  check: "M5 12.500l4.5 4.500L19 7.5",
} as const;

/** Names of icons. */
export type IconName = keyof typeof paths;

/** One icon in the size of its text. */
export function Icon({ name }: { readonly name: IconName }): VNode {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <path d={paths[name]} />
    </svg>
  );
}

/** The mark: a sheet pinned to the callboard, its last line called. */
export function Mark(): VNode {
  return (
    <svg class="mark" viewBox="0 0 32 32" aria-hidden="true" focusable="false">
      <rect class="mark-board" width="32" height="32" rx="7" />
      <path class="mark-sheet" d="M8 9.500h16V26H8z" />
      <path class="mark-lines" d="M11.5 15h9M11.5 18.500h6" />
      <path class="mark-call" d="M11.5 22l1.600 1.600 3-3.200" />
      <circle class="mark-pin" cx="16" cy="8.5" r="2.800" />
    </svg>
  );
}

/** Mark and name. */
export function Wordmark(): VNode {
  return (
    <span class="wordmark">
      <Mark />
      <span class="wordmark-name">Callboard</span>
    </span>
  );
}
