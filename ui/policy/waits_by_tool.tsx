/**
 * Tools whose calls wait for another time, or end in another way, than everything else: the first line that covers a tool holds.
 */
import type { Signal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { Icon } from "../parts/icons.tsx";
import { gateStrings as words } from "../strings/gate.ts";
import { Choice } from "./choice.tsx";
import { type GateDraft, stepEarlier } from "./gate_draft.ts";
import { endingOf, endingOptions, spanOptions, waits } from "./gate_options.ts";

const MAX_LINES = 50;
type Wait = GateDraft["expiryByTool"][number];

/** The lines. */
export function WaitsByTool({ draft }: { readonly draft: Signal<GateDraft> }) {
  const { expiryByTool, expirySeconds, onExpiry } = draft.value;
  const add = useRef<HTMLButtonElement>(null);
  const list = useRef<HTMLOListElement>(null);
  const set = (lines: readonly Wait[]) => {
    draft.value = { ...draft.value, expiryByTool: [...lines] };
  };
  const extend = () => {
    set([...expiryByTool, { toolPattern: "", expirySeconds, onExpiry }]);
    requestAnimationFrame(() => list.current?.lastElementChild?.querySelector("input")?.focus());
  };
  return (
    <div class="by-tool">
      <p class="field-label" id="by-tool">{words.byTool}</p>
      <ol ref={list} aria-labelledby="by-tool">
        {expiryByTool.map((wait, index) => (
          <li key={index}>
            <Line
              wait={wait}
              change={(more) =>
                set(expiryByTool.map((other, at) => at === index ? { ...other, ...more } : other))}
            />
            <div class="by-tool-buttons">
              {index > 0 && (
                <button
                  type="button"
                  class="button quiet small icon-button"
                  aria-label={words.lineEarlier(index + 1)}
                  onClick={() => set(stepEarlier(expiryByTool, index))}
                >
                  <Icon name="up" />
                </button>
              )}
              <button
                type="button"
                class="button quiet small"
                aria-label={words.removeLine(index + 1)}
                onClick={() => {
                  set(expiryByTool.filter((_, at) => at !== index));
                  add.current?.focus();
                }}
              >
                {words.remove}
              </button>
            </div>
          </li>
        ))}
      </ol>
      <button
        ref={add}
        type="button"
        class="button small"
        disabled={expiryByTool.length >= MAX_LINES}
        onClick={extend}
      >
        {words.addLine}
      </button>
      <p class="hint">{words.byToolHint}</p>
    </div>
  );
}

interface LineProps {
  readonly wait: Wait;
  readonly change: (more: Partial<Wait>) => void;
}

function Line({ wait: { toolPattern, expirySeconds, onExpiry }, change }: LineProps) {
  return (
    <>
      <label class="field">
        <span>{words.lineTool}</span>
        <input
          type="text"
          class="mono"
          maxLength={200}
          autocapitalize="off"
          spellcheck={false}
          value={toolPattern}
          onInput={(event) => change({ toolPattern: event.currentTarget.value })}
        />
      </label>
      <div class="field-pair">
        <Choice
          label={words.lineWaits}
          value={`${expirySeconds}`}
          options={spanOptions(waits, expirySeconds)}
          choose={(value) => change({ expirySeconds: Number(value) })}
        />
        <Choice
          label={words.lineThen}
          value={onExpiry}
          options={endingOptions}
          choose={(value) => change({ onExpiry: endingOf(value) })}
        />
      </div>
    </>
  );
}
