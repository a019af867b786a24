/**
 * The arguments of a call as inputs, one for each that the tool's schema names. Names and descriptions are the tool's own words and are shown escaped.
 */
import type { Signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { printableLine } from "../../../lib/printable.ts";
import { HostileText } from "../../render/hostile_text.tsx";
import { type ArgumentField, textOf, type Touched } from "../../store/argument_fields.ts";
import { strings } from "../../strings.ts";

const words = strings.decide;
/** Longer texts, and those with several lines, get room. */
const ONE_LINE = 60;

interface ArgumentInputsProps {
  /** Makes the ids of the inputs. */
  readonly id: string;
  readonly fields: readonly ArgumentField[];
  readonly touched: Signal<Touched>;
  readonly wrong: ReadonlySet<string>;
}

/** The inputs. */
export function ArgumentInputs({ id, fields, touched, wrong }: ArgumentInputsProps) {
  return (
    <>
      {fields.map((field) => (
        <ArgumentInput
          key={field.name}
          id={`${id}-${field.name}`}
          field={field}
          text={touched.value[field.name] ?? textOf(field)}
          isWrong={wrong.has(field.name)}
          change={(text) => touched.value = { ...touched.value, [field.name]: text }}
        />
      ))}
    </>
  );
}

interface ArgumentInputProps {
  readonly id: string;
  readonly field: ArgumentField;
  readonly text: string;
  readonly isWrong: boolean;
  readonly change: (text: string) => void;
}

function ArgumentInput(props: ArgumentInputProps) {
  const { id, field, isWrong } = props;
  return (
    <div class="field">
      <label for={id}>
        <code>
          <HostileText text={field.name} line />
        </code>{" "}
        {!field.required && <span class="faint">{words.optional}</span>}
      </label>
      <Input {...props} />
      <span class="hint" id={`${id}-hint`}>
        {field.description !== undefined && <HostileText text={field.description} line />}
        {isWrong && <strong class="field-problem">{words.wrongArgument[field.kind]}</strong>}
      </span>
    </div>
  );
}

function Input({ id, field, text, isWrong, change }: ArgumentInputProps): ComponentChildren {
  const shared = { id, "aria-describedby": `${id}-hint`, "aria-invalid": isWrong, value: text };
  const isLong = text.includes("\n") || text.length > ONE_LINE;
  switch (field.kind) {
    case "boolean":
    case "choice":
      return (
        <select {...shared} onChange={(event) => change(event.currentTarget.value)}>
          {(!field.required || text === "") && <option value="">{words.notSet}</option>}
          {(field.choices ?? ["true", "false"]).map((choice) => (
            <option key={choice} value={choice}>{printableLine(choice)}</option>
          ))}
        </select>
      );
    case "text":
    case "json":
      if (field.kind === "json" || isLong) {
        return (
          <textarea
            {...shared}
            class="mono"
            rows={Math.min(12, text.split("\n").length + 1)}
            spellcheck={false}
            autocapitalize="off"
            onInput={(event) => change(event.currentTarget.value)}
          />
        );
      }
      return <Line {...shared} change={change} />;
    case "number":
    case "integer":
      return <Line {...shared} inputMode={field.kind === "number" ? "decimal" : "numeric"} change={change} />;
    default:
      return field.kind satisfies never;
  }
}

interface LineProps {
  readonly id: string;
  readonly value: string;
  readonly inputMode?: "decimal" | "numeric";
  readonly change: (text: string) => void;
}

function Line({ change, ...rest }: LineProps) {
  return (
    <input
      {...rest}
      type="text"
      class="mono"
      spellcheck={false}
      autocapitalize="off"
      onInput={(event) => change(event.currentTarget.value)}
    />
  );
}
