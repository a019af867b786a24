/**
 * A page that an MCP server wants opened: its whole address as text with the host marked, and a second word before a new tab opens. The page is
 * fetched by nothing but that tab, which learns neither where it was opened from nor how to reach this page.
 */
import { useSignal } from "@preact/signals";
import type { Item, LinkView } from "../../../edge/api.ts";
import { readWebLink } from "../../../lib/web_link.ts";
import { HostileText } from "../../render/hostile_text.tsx";
import { formStrings as words } from "../../strings/form.ts";
import { Refusals } from "./elicitation_form.tsx";
import { useFocus } from "../use_focus.ts";
import { useApp } from "../use_app.ts";

interface LinkQuestionProps {
  readonly item: Item;
  readonly link: LinkView;
}

/** The address and the ways to answer. */
export function LinkQuestion({ item, link: { url } }: LinkQuestionProps) {
  const { inbox } = useApp();
  const isAsking = useSignal(false);
  const isBusy = inbox.deciding.value.get(item.id)?.phase === "sending";
  const link = readWebLink(url);
  return (
    <div class="decide question">
      <Address url={url} />
      <p class="hint">{link.ok ? words.linkHint : words.badLink}</p>
      {link.ok && isAsking.value
        ? (
          <Confirm
            host={link.value.host}
            href={link.value.href}
            back={() => isAsking.value = false}
            opened={() => void inbox.decide(item, { decision: "answer" })}
          />
        )
        : (
          <div class="decide-main">
            <Refusals item={item} busy={isBusy} />
            {link.ok && (
              <button
                type="button"
                class="button primary large"
                disabled={isBusy}
                onClick={() => isAsking.value = true}
              >
                {words.openAsk}
              </button>
            )}
          </div>
        )}
    </div>
  );
}

/** The whole address, its host apart. */
function Address({ url }: { readonly url: string }) {
  const link = readWebLink(url);
  if (!link.ok) {
    return (
      <p class="address">
        <HostileText text={url} line />
      </p>
    );
  }
  const { before, host, after } = link.value;
  return (
    <p class="address" aria-label={words.link}>
      <HostileText text={before} line />
      <strong>
        <HostileText text={host} line />
      </strong>
      <HostileText text={after} line />
    </p>
  );
}

interface ConfirmProps {
  readonly host: string;
  readonly href: string;
  readonly back: () => void;
  readonly opened: () => void;
}

function Confirm({ host, href, back, opened }: ConfirmProps) {
  const focus = useFocus<HTMLButtonElement>();
  return (
    <div
      role="group"
      aria-label={words.openTitle(host)}
      onKeyDown={(event) => event.key === "Escape" && back()}
    >
      <p>{words.openTitle(host)}</p>
      <div class="decide-main">
        <button ref={focus} type="button" class="button large" onClick={back}>{words.back}</button>
        <a
          class="button primary large"
          href={href}
          target="_blank"
          rel="noopener noreferrer"
          referrerpolicy="no-referrer"
          onClick={opened}
        >
          {words.open(host)}
        </a>
      </div>
    </div>
  );
}
