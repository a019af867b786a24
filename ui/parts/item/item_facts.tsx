/**
 * What the toolbox found a call to be: not the model's words but the resolved paths, the argument vector, the folder and the preview, then why it
 * asks and the digest that binds the approval.
 */
import type { ComponentChildren } from "preact";
import type { DescribedView, Item, TraceStep } from "../../../edge/api.ts";
import { HostileText } from "../../render/hostile_text.tsx";
import { strings } from "../../strings.ts";
import { FoldedText, Preview } from "./preview.tsx";

const words = strings.inbox;

/** Everything to know before deciding. */
export function ItemFacts({ item }: { readonly item: Item }) {
  const { described } = item;
  const isShownWhole = described?.preview !== undefined || described?.argv !== undefined;
  return (
    <div class="facts">
      {described && <Facts described={described} />}
      {described?.preview && <Preview preview={described.preview} />}
      {item.arguments !== undefined && !isShownWhole && (
        <Arguments value={item.arguments} title={words.arguments} />
      )}
      <div class="disclosures">
        {item.arguments !== undefined && isShownWhole && (
          <details>
            <summary>{words.rawArguments}</summary>
            <FoldedText text={jsonOf(item.arguments)} />
          </details>
        )}
        {item.trace && item.trace.length > 0 && <Trace steps={item.trace} />}
      </div>
    </div>
  );
}

function Facts({ described }: { readonly described: DescribedView }) {
  const { argv, cwd, paths, outside, preview } = described;
  // A command's own preview is its text; the vector is shown when there is none.
  const hasArgv = argv !== undefined && preview?.kind !== "command";
  if (!hasArgv && cwd === undefined && paths.length === 0 && outside.length === 0) return null;
  return (
    <dl class="fact-list">
      {hasArgv && (
        <Fact name={words.command}>{argv.map((word, index) => <Word key={index} text={word} />)}</Fact>
      )}
      {cwd !== undefined && (
        <Fact name={words.folder}>
          <Word text={cwd} />
        </Fact>
      )}
      {paths.length > 0 && (
        <Fact name={words.paths}>
          {paths.map(({ path, access, exists }) => (
            <span key={path} class="fact-path">
              <Word text={path} />{" "}
              <span class={`access access-${access}`}>{access === "write" ? words.writes : words.reads}</span>
              {!exists && <span class="access">{words.newFile}</span>}
            </span>
          ))}
        </Fact>
      )}
      {outside.length > 0 && (
        <Fact name={words.outside} danger>{outside.map((path) => <Word key={path} text={path} />)}</Fact>
      )}
    </dl>
  );
}

interface FactProps {
  readonly name: string;
  readonly danger?: boolean;
  readonly children: ComponentChildren;
}

function Fact({ name, danger = false, children }: FactProps) {
  return (
    <div class={danger ? "fact fact-danger" : "fact"}>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function Word({ text }: { readonly text: string }) {
  return (
    <code class="word">
      <HostileText text={text} line />
    </code>
  );
}

function Arguments({ value, title }: { readonly value: unknown; readonly title: string }) {
  return (
    <figure class="preview">
      <figcaption>{title}</figcaption>
      <FoldedText text={jsonOf(value)} />
    </figure>
  );
}

function Trace({ steps }: { readonly steps: readonly TraceStep[] }) {
  return (
    <details>
      <summary>{words.why}</summary>
      <ol class="trace">
        {steps.map((step, index) => (
          <li key={index}>
            <span class="trace-step">
              <HostileText text={step.step} line />
            </span>
            <span class="trace-outcome">
              <HostileText text={step.outcome} line />
            </span>
            {step.ref !== undefined && (
              <code class="word">
                <HostileText text={step.ref} line />
              </code>
            )}
          </li>
        ))}
      </ol>
    </details>
  );
}

/** Names what is approved; the whole digest is its title. */
export function Digest({ digest }: { readonly digest: string }) {
  return (
    <span class="digest" title={`${digest}\n${words.digestHint}`}>
      {words.digest} <code>{digest.slice(0, 6)}…{digest.slice(-6)}</code>
    </span>
  );
}

/** JSON for reading. */
export function jsonOf(value: unknown): string {
  return JSON.stringify(value, null, 2) ?? "";
}
