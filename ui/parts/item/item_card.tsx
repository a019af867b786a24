/**
 * One pending item as a card: what asks, how risky it is, the facts, and either the ways to decide or how it went. The same card stands in the
 * inbox and, compact, inside the conversation.
 */
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { AskerView, Item } from "../../../edge/api.ts";
import { printableLine } from "../../../lib/printable.ts";
import { HostileText } from "../../render/hostile_text.tsx";
import { momentOf } from "../../render/time.ts";
import { isPutOff } from "../../store/inbox.ts";
import { strings } from "../../strings.ts";
import { formStrings } from "../../strings/form.ts";
import { cardKeys } from "../inbox/card_keys.ts";
import { DecisionPanel } from "../decide/decision_panel.tsx";
import { Icon } from "../icons.tsx";
import { Digest, ItemFacts } from "./item_facts.tsx";
import { ItemOutcome } from "./item_outcome.tsx";
import { Link } from "../link.tsx";
import { QuestionForm } from "../question/question_form.tsx";
import { RestartPanel } from "./restart_panel.tsx";
import { Age, Countdown } from "../times.tsx";
import { mayAct, useApp } from "../use_app.ts";
import { useKeptFocus } from "./use_kept_focus.ts";

const words = strings.inbox;

interface ItemCardProps {
  readonly item: Item;
  /** Inside its own conversation: says less about where it comes from. */
  readonly inChat?: boolean;
  /** In a list of several: whether the item is chosen, for what is done to all chosen ones. */
  readonly choice?: { readonly isChosen: boolean; readonly toggle: () => void } | undefined;
}

/** The card. */
export function ItemCard({ item, inChat = false, choice }: ItemCardProps) {
  const { described } = item;
  const { inbox } = useApp();
  const kept = useKeptFocus<HTMLElement>();
  useEffect(() => {
    if (document.visibilityState === "visible") void inbox.seen(item);
  }, [item.id, item.version]);
  const summary = described?.summary;
  return (
    <article
      ref={kept}
      class="card item"
      data-risk={item.state === "waiting" ? item.risk : undefined}
      data-state={item.state}
      data-item={item.id}
      tabIndex={-1}
      aria-labelledby={`item-${item.id}`}
    >
      <header class="item-head">
        <h2 id={`item-${item.id}`}>
          {item.kind === "approval" && item.tool !== undefined
            ? (
              <code class="tool-name">
                <HostileText text={item.tool} line />
              </code>
            )
            : words.kinds[item.kind]}
        </h2>
        <Badges item={item} />
        {choice && (
          <label class="choose">
            <input
              type="checkbox"
              aria-label={words.choose(printableLine(item.tool ?? words.kinds[item.kind]))}
              data-key={cardKeys.select}
              checked={choice.isChosen}
              onChange={choice.toggle}
            />
          </label>
        )}
      </header>
      {!inChat && <Origin item={item} />}
      {summary !== undefined && item.kind === "approval" && (
        <p class="item-summary">
          <HostileText text={summary} line />
        </p>
      )}
      {item.asker && <Asker asker={item.asker} />}
      {item.question !== undefined && (
        <p class="item-question">
          <HostileText text={item.form?.message ?? item.link?.message ?? item.question} />
        </p>
      )}
      {item.kind === "approval" && <ItemFacts item={item} />}
      <p class="item-times">
        <Age at={item.createdAt} asked />
        {item.state === "waiting" && item.expiresAt !== undefined && <Countdown until={item.expiresAt} />}
        {item.digest !== undefined && <Digest digest={item.digest} />}
      </p>
      <ItemOutcome item={item} />
      {item.state === "waiting" && <Ways item={item} />}
    </article>
  );
}

/** The ways to decide; behind one more tap while the item is put off. */
function Ways({ item }: { readonly item: Item }) {
  const app = useApp();
  const opened = useSignal<number | undefined>(undefined);
  const { laterUntil } = item;
  // The clock is read only for an item that has such a time.
  const until = laterUntil !== undefined && isPutOff(item, app.now.value) ? laterUntil : undefined;
  const isOpen = until === undefined || opened.value === until || !mayAct(app);
  // The form keeps its place in the tree, and so what was typed in it, when the time comes while it is open.
  return (
    <>
      {until !== undefined && (
        <p class="outcome-line">
          <span>{words.putOff(momentOf(until))}</span>
          {mayAct(app) && (
            <button
              type="button"
              class="button small"
              onClick={() => void app.inbox.later(item, null)}
            >
              {strings.decide.bringBack}
            </button>
          )}
          {!isOpen && (
            <button
              type="button"
              class="button small"
              onClick={() => opened.value = until}
            >
              {strings.decide.decideNow}
            </button>
          )}
        </p>
      )}
      {isOpen && <Decide item={item} />}
    </>
  );
}

function Decide({ item }: { readonly item: Item }) {
  switch (item.kind) {
    case "approval":
      return <DecisionPanel item={item} />;
    case "question":
    case "elicitation":
      return <QuestionForm item={item} />;
    case "restart":
      return <RestartPanel item={item} />;
    default:
      return item.kind satisfies never;
  }
}

function Badges({ item }: { readonly item: Item }) {
  const { described, risk, asker } = item;
  const ran = described ?? asker;
  return (
    <ul class="badges">
      {item.state === "waiting" && item.escalated && (
        <li class="tag tag-danger">
          <Icon name="alert" />
          {words.escalated}
        </li>
      )}
      {risk !== undefined && <li class={`tag risk-${risk}`}>{words.risk[risk]}</li>}
      {item.trigger === "schedule" && <li class="tag">{words.scheduled}</li>}
      {ran && (
        <li class={ran.sandboxed ? "tag tag-safe" : "tag tag-danger"}>
          <Icon name={ran.sandboxed ? "shield" : "alert"} />
          {ran.sandboxed ? words.sandboxed : words.unsandboxed}
        </li>
      )}
    </ul>
  );
}

/** Which server asks for it, and while which of its tools runs. */
function Asker({ asker: { server, tool } }: { readonly asker: AskerView }) {
  return (
    <p class="item-origin">
      <HostileText text={`${formStrings.asks(server)} ${formStrings.during(tool)}`} line />
    </p>
  );
}

function Origin({ item }: { readonly item: Item }) {
  const { id, title, source } = item.conversation;
  const sources: Readonly<Record<string, string>> = strings.chats.sources;
  return (
    <p class="item-origin">
      {words.from}{" "}
      <Link to={{ name: "chat", id }}>
        <HostileText text={title} line />
      </Link>
      <span class="source">{sources[source] ?? source}</span>
    </p>
  );
}
