/**
 * How the gate treats what waits: how long, what happens then, reminders and quiet hours, what two people must allow, and how much an agent may ask.
 */
import { type Signal, useSignal } from "@preact/signals";
import type { GateSettings } from "../../edge/api.ts";
import { toolPatternProblem } from "../../lib/policy/tool_pattern.ts";
import { ChangeNote, useIsBusy } from "../parts/change_note.tsx";
import { isOwner, useApp } from "../parts/use_app.ts";
import { policyStrings } from "../strings/policy.ts";
import { Choice } from "./choice.tsx";
import { Escalation } from "./escalation.tsx";
import { type GateDraft, gateDraftOf, gateSettingsOf } from "./gate_draft.ts";
import { endingOf, endingOptions, reminders, spanOptions, undos, waits } from "./gate_options.ts";
import { Listed, PolicyHead } from "./policy.tsx";
import { limitProblem } from "./rule_draft.ts";
import { WaitsByTool } from "./waits_by_tool.tsx";

const words = policyStrings.gate;
const KEY = "gate";

/** The screen. */
export function Gate() {
  const app = useApp();
  return (
    <div class="screen policy">
      <PolicyHead title={policyStrings.pages.gate.title} note={policyStrings.pages.gate.note} />
      <Listed reading={app.policy.gate}>
        {(settings) => <GateForm key={JSON.stringify(settings)} settings={settings} />}
      </Listed>
    </div>
  );
}

function GateForm({ settings }: { readonly settings: GateSettings }) {
  const app = useApp();
  const { policy } = app;
  const draft = useSignal(gateDraftOf(settings));
  const next = gateSettingsOf(draft.value);
  const patterns = [...next.twoPersons, ...next.expiryByTool.map(({ toolPattern }) => toolPattern)];
  const problem = [
    ...patterns.map(toolPatternProblem),
    limitProblem(draft.value.callsPerMinute),
    limitProblem(draft.value.denialsInARow),
  ].find((found) => found !== undefined);
  const isSame = JSON.stringify(next) === JSON.stringify(gateSettingsOf(gateDraftOf(settings)));
  const isBusy = useIsBusy(KEY);
  return (
    <form
      class="card try-form gate"
      onSubmit={(event) => {
        event.preventDefault();
        void policy.changes.run(KEY, () => policy.commands.setGate(next));
      }}
    >
      <fieldset class="dialog-form" disabled={!isOwner(app)}>
        <legend class="visually-hidden">{policyStrings.pages.gate.title}</legend>
        <Waiting draft={draft} />
        <Limits draft={draft} />
      </fieldset>
      {problem !== undefined && <p class="field-problem" role="alert">{problem}</p>}
      <ChangeNote of={KEY} />
      {isOwner(app)
        ? (
          <button type="submit" class="button primary" disabled={isBusy || isSame || problem !== undefined}>
            {words.save}
          </button>
        )
        : <p class="hint">{policyStrings.ownerOnly}</p>}
    </form>
  );
}

type OfDraft = { readonly draft: Signal<GateDraft> };

function Waiting({ draft }: OfDraft) {
  const { expirySeconds, onExpiry, expiryByTool, remindSeconds, quietHours, timeZone, undoSeconds } =
    draft.value;
  const set = (more: Partial<GateDraft>) => {
    draft.value = { ...draft.value, ...more };
  };
  const hours = Array.from({ length: 24 }, (_, hour) => [`${hour}`, words.hour(hour)] as const);
  return (
    <>
      <div class="field-pair">
        <Choice
          label={words.expiry}
          value={`${expirySeconds}`}
          options={spanOptions(waits, expirySeconds)}
          choose={(value) => set({ expirySeconds: Number(value) })}
        />
        <Choice
          label={words.onExpiry}
          value={onExpiry}
          options={endingOptions}
          choose={(value) => set({ onExpiry: endingOf(value) })}
        />
      </div>
      <WaitsByTool draft={draft} />
      {(onExpiry === "escalate" || expiryByTool.some((wait) => wait.onExpiry === "escalate")) && (
        <Escalation draft={draft} />
      )}
      <div class="field-pair">
        <Choice
          label={words.remind}
          value={`${remindSeconds ?? ""}`}
          options={[["", words.never], ...spanOptions(reminders, remindSeconds)]}
          choose={(value) => set({ remindSeconds: value === "" ? null : Number(value) })}
        />
        <Choice
          label={words.undo}
          value={`${undoSeconds}`}
          options={[["0", words.noUndo], ...spanOptions(undos, undoSeconds === 0 ? null : undoSeconds)]}
          choose={(value) => set({ undoSeconds: Number(value) })}
        />
      </div>
      <div class="field-pair">
        <Choice
          label={words.quietFrom}
          value={`${quietHours?.from ?? ""}`}
          options={[["", words.noQuiet], ...hours]}
          choose={(value) =>
            set({ quietHours: value === "" ? null : { from: Number(value), to: quietHours?.to ?? 6 } })}
        />
        {quietHours && (
          <Choice
            label={words.quietTo}
            value={`${quietHours.to}`}
            options={hours}
            choose={(value) => set({ quietHours: { ...quietHours, to: Number(value) } })}
          />
        )}
      </div>
      {quietHours && (
        <Choice
          label={words.timeZone}
          value={timeZone}
          options={timeZones(timeZone)}
          choose={(zone) => set({ timeZone: zone })}
        />
      )}
    </>
  );
}

function Limits({ draft }: OfDraft) {
  const field = (of: "callsPerMinute" | "denialsInARow", label: string, hint: string) => (
    <label class="field">
      <span>{label}</span>
      <input
        type="text"
        inputMode="numeric"
        value={draft.value[of]}
        onInput={(event) => draft.value = { ...draft.value, [of]: event.currentTarget.value }}
      />
      <span class="hint">{hint}</span>
    </label>
  );
  return (
    <>
      <label class="field">
        <span>{words.twoPersons}</span>
        <textarea
          class="mono"
          rows={Math.min(8, draft.value.twoPersons.split("\n").length + 1)}
          spellcheck={false}
          value={draft.value.twoPersons}
          onInput={(event) => draft.value = { ...draft.value, twoPersons: event.currentTarget.value }}
        />
        <span class="hint">{words.twoPersonsHint}</span>
      </label>
      <label class="field">
        <span>
          <input
            type="checkbox"
            checked={draft.value.requesterMayApprove}
            onChange={(event) =>
              draft.value = { ...draft.value, requesterMayApprove: event.currentTarget.checked }}
          />{" "}
          {words.requester}
        </span>
        <span class="hint">{words.requesterHint}</span>
      </label>
      <div class="field-pair">
        {field("callsPerMinute", words.calls, words.callsHint)}
        {field("denialsInARow", words.denials, words.denialsHint)}
      </div>
    </>
  );
}

/** The zone that is set and the device's own first, then all that the browser knows. */
function timeZones(current: string): (readonly [string, string])[] {
  const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const all = new Set([current, own, "UTC", ...Intl.supportedValuesOf("timeZone")]);
  return [...all].map((zone) => [zone, zone.replaceAll("_", " ")]);
}
