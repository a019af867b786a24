/**
 * The whole text that a person must be able to read before deciding: a change with coloured lines, a command, or plain text. A long one shows its head
 * and its tail and says how much lies between; one tap shows all. Every line is wrapped and long blank space only named, so nothing is pushed out of
 * sight.
 */
import { useSignal } from "@preact/signals";
import type { DescribedView } from "../../../edge/api.ts";
import { diffCounts, type DiffLine, diffLines, headAndTail } from "../../render/diff_lines.ts";
import { foldBlankLines, type FoldedLine } from "../../render/blanks.ts";
import { Blank, hasEscapes, HostileText } from "../../render/hostile_text.tsx";
import { strings } from "../../strings.ts";

const MAX_LINES = 24;
/** So that a copied text keeps its lines. */
const LINE_END = "\n";

/** A titled preview. */
export function Preview({ preview }: { readonly preview: NonNullable<DescribedView["preview"]> }) {
  const isDiff = preview.kind === "diff";
  const lines = isDiff ? diffLines(preview.text) : plainLines(preview.text);
  const counts = isDiff ? diffCounts(lines) : undefined;
  return (
    <figure class={`preview preview-${preview.kind}`}>
      <figcaption>
        <span>{strings.inbox.preview[preview.kind]}</span>
        {counts && (
          <span class="counts">
            <span class="count-added">+{counts.added}</span>{" "}
            <span class="count-removed">−{counts.removed}</span>
          </span>
        )}
      </figcaption>
      <Lines lines={lines} />
      {hasEscapes(preview.text) && <p class="escape-hint">{strings.inbox.escapes}</p>}
    </figure>
  );
}

/** Mono text that can be unfolded, for output and arguments. */
export function FoldedText({ text }: { readonly text: string }) {
  return (
    <div class="preview">
      <Lines lines={plainLines(text)} />
    </div>
  );
}

function plainLines(text: string): DiffLine[] {
  return text.replace(/\n$/, "").split("\n").map((line) => ({ kind: "context", text: line }));
}

function Lines({ lines }: { readonly lines: readonly DiffLine[] }) {
  const isWhole = useSignal(false);
  const folded = foldBlankLines(lines);
  const { head, hidden, tail } = headAndTail(folded, isWhole.value ? Infinity : MAX_LINES);
  return (
    <>
      <pre class="lines" tabIndex={0}>
        <code>
          {head.map((line, index) => <Line key={index} line={line} />)}
          {hidden > 0 && <span class="line line-gap">⋯ {hidden} ⋯{LINE_END}</span>}
          {tail.map((line, index) => <Line key={`tail${index}`} line={line} />)}
        </code>
      </pre>
      {folded.length > MAX_LINES + 2 && (
        <button
          type="button"
          class="button quiet small unfold"
          aria-expanded={isWhole.value}
          onClick={() => isWhole.value = !isWhole.value}
        >
          {isWhole.value ? strings.inbox.less : strings.inbox.whole(lines.length)}
        </button>
      )}
    </>
  );
}

const MARKERS: Readonly<Record<DiffLine["kind"], string>> = {
  added: "+",
  removed: "−",
  context: "",
  file: "",
  hunk: "",
  note: "",
};

function Line({ line }: { readonly line: FoldedLine }) {
  const { kind, text, blankLines } = line;
  return (
    <span class={`line line-${kind}`} data-marker={MARKERS[kind]}>
      {blankLines === undefined
        ? <HostileText text={text} />
        : <Blank kind="lines" count={blankLines} inLine />}
      {LINE_END}
    </span>
  );
}
