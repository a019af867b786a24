/** A labelled choice among a few. */

interface ChoiceProps {
  readonly label: string;
  readonly value: string;
  readonly options: readonly (readonly [value: string, name: string])[];
  readonly choose: (value: string) => void;
}

/** The field. */
export function Choice({ label, value, options, choose }: ChoiceProps) {
  return (
    <label class="field">
      <span>{label}</span>
      <select value={value} onChange={(event) => choose(event.currentTarget.value)}>
        {options.map(([known, name]) => <option key={known} value={known}>{name}</option>)}
      </select>
    </label>
  );
}
