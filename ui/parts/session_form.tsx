/**
 * The second word on *for this session*: says in plain words what will run without asking, for how long and where it is ended, before it is granted.
 * Escape and *back* grant nothing. Proven by `tests/browser/decide_test.ts`.
 */
import type { Item } from "../../edge/api.ts";
import { HostileText } from "../render/hostile_text.tsx";
import { strings } from "../strings.ts";
import { Link } from "./link.tsx";
import { useFocus } from "./use_focus.ts";
import { useApp } from "./use_app.ts";

const words = strings.decide;

interface SessionFormProps {
  readonly item: Item;
  readonly busy: boolean;
  readonly back: () => void;
}

/** What it grants, and the two answers. */
export function SessionForm({ item, busy, back }: SessionFormProps) {
  const { inbox } = useApp();
  const focus = useFocus<HTMLButtonElement>();
  return (
    <div
      class="decide decide-form"
      role="group"
      aria-label={words.sessionTitle}
      onKeyDown={(event) => event.key === "Escape" && back()}
    >
      <p class="form-title">{words.sessionTitle}</p>
      <p id={`session-${item.id}`}>
        {words.sessionEvery}{" "}
        <code>
          <HostileText text={item.tool ?? strings.inbox.kinds[item.kind]} line />
        </code>{" "}
        {words.sessionRuns} <Link to={{ name: "policy", page: "bypasses" }}>{words.sessionWhere}</Link>.
      </p>
      <div class="decide-main decide-apart">
        <button
          ref={focus}
          type="button"
          class="button large"
          aria-describedby={`session-${item.id}`}
          onClick={back}
        >
          {words.cancel}
        </button>
        <button
          type="button"
          class="button danger-solid large"
          disabled={busy}
          onClick={() => void inbox.decide(item, { decision: "allow_session", scope: "tool" })}
        >
          {words.sendSession}
        </button>
      </div>
    </div>
  );
}
