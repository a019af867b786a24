/**
 * Allowing a call with other arguments: typed inputs where the tool's schema is known and simple, and always the raw JSON as the other way. The whole must
 * differ from what was asked; whether it fits the tool the server says.
 */
import { type Signal, useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { Item } from "../../../edge/api.ts";
import { argumentFields, argumentsOf, type Touched } from "../../store/argument_fields.ts";
import { strings } from "../../strings.ts";
import { ArgumentInputs } from "./argument_inputs.tsx";
import { jsonOf } from "../item/item_facts.tsx";
import { useApp } from "../use_app.ts";

const words = strings.decide;

/** The JSON object in `text`, else undefined. */
export function parsedObject(text: string): Record<string, unknown> | undefined {
  try {
    return objectOf(JSON.parse(text));
  } catch {
    return undefined;
  }
}

function objectOf(value: unknown): Record<string, unknown> | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  return Object.fromEntries(Object.entries(value));
}

/** Fields stand in the schema's order, which need not be the model's. */
function sorted(value: Record<string, unknown>): string {
  return jsonOf(Object.fromEntries(Object.entries(value).sort(([a], [b]) => a < b ? -1 : 1)));
}

interface EditArgumentsProps {
  readonly item: Item;
  readonly busy: boolean;
  readonly back: () => void;
}

/** The form; Escape leaves it without a decision. */
export function EditArguments({ item, busy, back }: EditArgumentsProps) {
  const { inbox, policy } = useApp();
  const original = jsonOf(item.arguments);
  const raw = useSignal<string | undefined>(undefined);
  const touched = useSignal<Touched>({});
  // What the fields begin with: the model's arguments, or what was written as JSON.
  const base = useSignal(objectOf(item.arguments) ?? {});
  const body = useRef<HTMLDivElement>(null);
  useEffect(() => void policy.tools.load(), []);
  const schema = policy.tools.value.value?.tools.find(({ name }) => name === item.tool)?.parameters;
  const fields = argumentFields(schema, base.value);
  const byFields = fields !== undefined && raw.value === undefined
    ? argumentsOf(fields, touched.value)
    : undefined;
  const isTyped = byFields !== undefined;
  const edited = byFields === undefined
    ? parsedObject(raw.value ?? original)
    : byFields.wrong.size === 0
    ? byFields.value
    : undefined;
  const isSame = edited !== undefined && sorted(edited) === sorted(objectOf(item.arguments) ?? {});
  // Where one begins to write: at once, and again when the other way of writing is chosen.
  useEffect(() => body.current?.querySelector<HTMLElement>("input, textarea, select")?.focus(), [isTyped]);
  const turn = () => {
    if (byFields) raw.value = jsonOf(byFields.value);
    else if (edited) {
      base.value = edited;
      touched.value = {};
      raw.value = undefined;
    }
  };
  const send = (event: Event) => {
    event.preventDefault();
    if (edited !== undefined && !isSame) {
      void inbox.decide(item, { decision: "edit_and_allow", arguments: edited });
    }
  };
  const hintId = `edit-hint-${item.id}`;
  return (
    <form
      class="decide decide-form"
      aria-label={words.editTitle}
      onSubmit={send}
      onKeyDown={(event) => event.key === "Escape" && back()}
    >
      <div ref={body} class="dialog-form">
        {fields && byFields
          ? <ArgumentInputs id={`edit-${item.id}`} fields={fields} touched={touched} wrong={byFields.wrong} />
          : <RawArguments raw={raw} original={original} hintId={hintId} />}
      </div>
      {fields && (
        <button
          type="button"
          class="button quiet small"
          disabled={edited === undefined}
          onClick={turn}
        >
          {byFields ? words.asJson : words.asFields}
        </button>
      )}
      <p class="hint" id={hintId} aria-live="polite">
        {hintOf({ isWrong: edited === undefined, isTyped, isSame })}
      </p>
      <div class="decide-main">
        <button type="button" class="button large" onClick={back}>{words.cancel}</button>
        <button type="submit" class="button primary large" disabled={busy || edited === undefined || isSame}>
          {words.sendEdit}
        </button>
      </div>
    </form>
  );
}

interface RawArgumentsProps {
  readonly raw: Signal<string | undefined>;
  readonly original: string;
  readonly hintId: string;
}

function RawArguments({ raw, original, hintId }: RawArgumentsProps) {
  const text = raw.value ?? original;
  return (
    <label class="field">
      <span>{words.editTitle}</span>
      <textarea
        class="mono"
        rows={Math.min(16, original.split("\n").length + 1)}
        spellcheck={false}
        autocapitalize="off"
        aria-describedby={hintId}
        aria-invalid={parsedObject(text) === undefined}
        value={text}
        onInput={(event) => raw.value = event.currentTarget.value}
      />
    </label>
  );
}

interface EditState {
  readonly isWrong: boolean;
  readonly isTyped: boolean;
  readonly isSame: boolean;
}

function hintOf({ isWrong, isTyped, isSame }: EditState): string {
  if (isWrong) return isTyped ? words.badFields : words.badJson;
  return isSame ? words.unchanged : words.editHint;
}
