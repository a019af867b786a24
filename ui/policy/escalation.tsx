/**
 * Who is asked, one after the other, when nobody has decided in time, and what happens when none of them did.
 */
import type { Signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { printableLine } from "../../lib/printable.ts";
import { Icon } from "../parts/icons.tsx";
import { isOwner, useApp } from "../parts/use_app.ts";
import { policyStrings } from "../strings/policy.ts";
import { Choice } from "./choice.tsx";
import { type GateDraft, stepEarlier } from "./gate_draft.ts";

const words = policyStrings.gate;
const lastResorts = ["reject", "park"] as const;

/** The chain; shown while the ending is to hand on. */
export function Escalation({ draft }: { readonly draft: Signal<GateDraft> }) {
  const app = useApp();
  const { people } = app.policy;
  useEffect(() => {
    // The list of people is the owner's; others see how many are asked.
    if (isOwner(app)) void people.load();
  }, []);
  const { escalateTo, lastResort } = draft.value;
  const set = (more: Partial<GateDraft>) => {
    draft.value = { ...draft.value, ...more };
  };
  const known = people.value.value?.users ?? [];
  const nameOf = (id: string) => printableLine(known.find((person) => person.id === id)?.name ?? id);
  const others = known.filter(({ id, role }) => role !== "viewer" && !escalateTo.includes(id));
  return (
    <div class="escalation">
      <p class="field-label" id="escalation">{words.escalateTo}</p>
      {escalateTo.length === 0 && <p class="hint">{words.escalateOwner}</p>}
      <ol aria-labelledby="escalation">
        {escalateTo.map((id, index) => (
          <li key={id}>
            <span>{nameOf(id)}</span>
            {index > 0 && (
              <button
                type="button"
                class="button quiet small icon-button"
                aria-label={words.earlier(nameOf(id))}
                onClick={() => set({ escalateTo: stepEarlier(escalateTo, index) })}
              >
                <Icon name="up" />
              </button>
            )}
            <button
              type="button"
              class="button quiet small"
              aria-label={words.removeLabel(nameOf(id))}
              onClick={() => set({ escalateTo: escalateTo.filter((other) => other !== id) })}
            >
              {words.remove}
            </button>
          </li>
        ))}
      </ol>
      <div class="field-pair">
        {others.length > 0 && (
          <Choice
            label={words.addPerson}
            value=""
            options={[
              ["", words.choosePerson],
              ...others.map(({ id, name }) => [id, printableLine(name)] as const),
            ]}
            choose={(id) => set({ escalateTo: [...escalateTo, id] })}
          />
        )}
        <Choice
          label={words.lastResort}
          value={lastResort}
          options={lastResorts.map((ending) => [ending, words.endings[ending]])}
          choose={(value) => set({ lastResort: lastResorts.find((one) => one === value) ?? "reject" })}
        />
      </div>
    </div>
  );
}
