/**
 * The bypasses in force, each with the time that it has left: what it covers, where, who granted it, and the way to end it now.
 */
import type { BypassView } from "../../edge/api.ts";
import { printableLine } from "../../lib/printable.ts";
import { ChangeNote, useIsBusy } from "../parts/change_note.tsx";
import { Empty } from "../parts/feedback.tsx";
import { Link } from "../parts/link.tsx";
import { Age } from "../parts/times.tsx";
import { mayAct, useApp } from "../parts/use_app.ts";
import { HostileText } from "../render/hostile_text.tsx";
import { leftOf, momentOf } from "../render/time.ts";
import { policyStrings } from "../strings/policy.ts";
import { Listed, PolicyHead } from "./policy.tsx";

const words = policyStrings.bypasses;

/** The screen. */
export function Bypasses() {
  const { policy } = useApp();
  return (
    <div class="screen policy">
      <PolicyHead title={policyStrings.pages.bypasses.title} note={policyStrings.pages.bypasses.note} />
      <Listed reading={policy.bypasses}>
        {({ bypasses }) =>
          bypasses.length === 0
            ? <Empty icon="bypasses" title={words.none}>{words.noneBody}</Empty>
            : (
              <ul class="hub">
                {[...bypasses].sort((a, b) => a.expiresAt - b.expiresAt).map((bypass) => (
                  <li key={bypass.id}>
                    <Bypass bypass={bypass} />
                  </li>
                ))}
              </ul>
            )}
      </Listed>
    </div>
  );
}

function Bypass({ bypass }: { readonly bypass: BypassView }) {
  const app = useApp();
  const { policy } = app;
  const key = `bypass/${bypass.id}`;
  const isBusy = useIsBusy(key);
  const what = printableLine(bypass.pattern ?? words.all);
  const where = printableLine(bypass.conversation.title);
  return (
    <article class="card entry" aria-label={what}>
      <div class="entry-head">
        <span class="entry-what">
          <span class={bypass.scope === "all" ? "tag tag-danger" : "tag"}>{words.scopes[bypass.scope]}</span>
          <code class="rule-tool">{what}</code>
        </span>
        <Left bypass={bypass} />
      </div>
      <Link to={{ name: "chat", id: bypass.conversation.id }} class="entry-where">
        <HostileText text={bypass.conversation.title} line />
      </Link>
      <div class="entry-foot">
        <p class="hint">
          {words.grantedBy(printableLine(bypass.grantedBy), bypass.surface)}, <Age at={bypass.createdAt} /> ·
          {" "}
          {policyStrings.rule.uses(bypass.uses)}
        </p>
        {mayAct(app) && (
          <button
            type="button"
            class="button danger small"
            aria-label={words.revokeLabel(what, where)}
            aria-disabled={isBusy}
            onClick={() => void policy.changes.run(key, () => policy.commands.revokeBypass(bypass.id))}
          >
            {words.revoke}
          </button>
        )}
      </div>
      <ChangeNote of={key} />
    </article>
  );
}

/** The countdown, and as a bar how much of its life is left. */
function Left({ bypass }: { readonly bypass: BypassView }) {
  const now = useApp().now.value;
  const { createdAt, expiresAt } = bypass;
  const isShort = expiresAt - now < 2 * 60_000;
  return (
    <span class="left">
      <time
        class={isShort ? "countdown short" : "countdown"}
        dateTime={new Date(expiresAt).toISOString()}
        title={momentOf(expiresAt)}
      >
        {expiresAt <= now ? words.ending : words.left(leftOf(expiresAt, now))}
      </time>
      <progress
        aria-hidden="true"
        max={Math.max(1, expiresAt - createdAt)}
        value={Math.max(0, expiresAt - now)}
      />
    </span>
  );
}
