interface FilterSelectProps<Value extends string> {
  label: string;
  /** Where `label` stands beside it as a label of its own. */
  id?: string | undefined;
  /** Undefined: no filter. */
  value: Value | undefined;
  /** The text of no filter. */
  all: string;
  options: readonly { value: Value; text: string }[];
  onChange: (value: Value | undefined) => void;
}

/**
 * A select above a list, which shows all of its rows, or those with one value. A value of an old address that is not offered any
 * more is shown as it is: else the select would say that there is no filter.
 */
export function FilterSelect<Value extends string>({
  label,
  id,
  value,
  all,
  options,
  onChange,
}: FilterSelectProps<Value>) {
  return (
    <select
      id={id}
      aria-label={id === undefined ? label : undefined}
      value={value ?? ""}
      onChange={({ target }) => onChange(options.find((option) => option.value === target.value)?.value)}
    >
      <option value="">{all}</option>
      {value !== undefined && !options.some((option) => option.value === value) && (
        <option value={value}>{value}</option>
      )}
      {options.map((option) => (
        <option key={option.value} value={option.value}>
          {option.text}
        </option>
      ))}
    </select>
  );
}
