/**
 * One field of a server's form as an input with its label, its hint and what is wrong with it. All words are the server's and are shown escaped; a
 * secret is typed unseen and offered to no password store.
 */
import type { ComponentChildren } from "preact";
import type { FieldValue, FormField } from "../../../lib/form_field.ts";
import { HostileText } from "../../render/hostile_text.tsx";
import { formStrings as words } from "../../strings/form.ts";

interface FormInputProps {
  /** The input's own id in the page; of several, the first one's. */
  readonly id: string;
  readonly field: FormField;
  readonly value: FieldValue | undefined;
  readonly problem: string | undefined;
  readonly change: (value: FieldValue) => void;
}

/** The field. */
export function FormInput(props: FormInputProps) {
  const { field, id, problem } = props;
  if (field.type === "choices") return <Many {...props} />;
  return (
    <div class="field">
      <label for={id}>
        <Label field={field} />
      </label>
      <Input {...props} />
      <Notes id={id} field={field} problem={problem} />
    </div>
  );
}

function Input({ field, id, value, problem, change }: FormInputProps) {
  const common = {
    id,
    "aria-required": field.required,
    "aria-invalid": problem !== undefined,
    "aria-describedby": `${id}-notes`,
  };
  switch (field.type) {
    case "boolean":
      return (
        <input
          {...common}
          type="checkbox"
          checked={value === true}
          onChange={(event) => change(event.currentTarget.checked)}
        />
      );
    case "choice":
      return (
        <select
          {...common}
          value={typeof value === "string" ? value : ""}
          onChange={(event) => change(event.currentTarget.value)}
        >
          <option value="">{field.required ? words.choose : words.chooseNone}</option>
          {field.choices?.map((choice) => (
            <option key={choice.value} value={choice.value}>
              <HostileText text={choice.label} line />
            </option>
          ))}
        </select>
      );
    case "string":
    case "number":
    case "integer":
    case "choices":
      return <Typed field={field} value={value} change={change} common={common} />;
    default:
      return field.type satisfies never;
  }
}

type TypedProps = Pick<FormInputProps, "field" | "value" | "change"> & { readonly common: object };

function Typed({ field, value, change, common }: TypedProps) {
  const { secret, format, type } = field;
  const rest = {
    ...common,
    maxLength: 20_000,
    value: `${value ?? ""}`,
    onInput: (event: { readonly currentTarget: HTMLInputElement }) => change(event.currentTarget.value),
  };
  if (secret) return <input {...rest} type="password" autocomplete="one-time-code" />;
  switch (format) {
    case "email":
      return <input {...rest} type="email" />;
    case "uri":
      return <input {...rest} type="url" />;
    case "date":
      return <input {...rest} type="date" />;
    case "date-time":
      return <input {...rest} type="datetime-local" />;
    case undefined:
      return (
        <input
          {...rest}
          type="text"
          inputMode={type === "number" ? "decimal" : type === "integer" ? "numeric" : "text"}
        />
      );
    default:
      return format satisfies never;
  }
}

function Many({ field, id, value, problem, change }: FormInputProps) {
  const chosen = Array.isArray(value) ? value : [];
  return (
    <fieldset class="field" aria-describedby={`${id}-notes`}>
      <legend>
        <Label field={field} />
      </legend>
      {field.choices?.map((choice, index) => (
        <label key={choice.value} class="check">
          <input
            {...(index === 0 ? { id } : {})}
            type="checkbox"
            checked={chosen.includes(choice.value)}
            onChange={(event) =>
              change(
                event.currentTarget.checked
                  ? [...chosen, choice.value]
                  : chosen.filter((each) => each !== choice.value),
              )}
          />
          <span>
            <HostileText text={choice.label} line />
          </span>
        </label>
      ))}
      <Notes id={id} field={field} problem={problem} />
    </fieldset>
  );
}

function Label({ field }: { readonly field: FormField }): ComponentChildren {
  return (
    <>
      <HostileText text={field.label} line />
      {!field.required && <span class="hint">{` (${words.optional})`}</span>}
    </>
  );
}

function Notes({ id, field, problem }: Pick<FormInputProps, "id" | "field" | "problem">) {
  return (
    <div id={`${id}-notes`}>
      {field.description !== undefined && (
        <p class="hint">
          <HostileText text={field.description} />
        </p>
      )}
      {problem !== undefined && (
        <p class="field-problem">
          <HostileText text={problem} line />
        </p>
      )}
    </div>
  );
}
