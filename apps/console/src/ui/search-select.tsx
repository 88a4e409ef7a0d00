import { useId, useState } from "react";
import { FilterSelect } from "./filter-select.tsx";
import { type Offered, useOffered } from "./use-offered.ts";

interface SearchSelectProps {
  label: string;
  /** Of the control, where `label` stands beside it as a label of its own. */
  id?: string;
  /** Undefined: none is chosen. */
  value: string | undefined;
  /** The name of a chosen one, which may not be among those that are offered. */
  name: string | undefined;
  /** The text of no choice. */
  all: string;
  /** Names what is chosen from, for the cache. */
  of: string;
  /** Reads the first of those that the server finds; undefined: of all. */
  read: (find: string | undefined, signal: AbortSignal) => Promise<Offered>;
  onChange: (value: string | undefined) => void;
}

/**
 * Chooses one of the objects of the server: a select where they are few, otherwise a field in which the reader searches, and the
 * server finds.
 */
export function SearchSelect({ label, id, value, name, all, of, read, onChange }: SearchSelectProps) {
  const { options, isLong, onText } = useOffered(of, read);
  const listId = useId();
  const [typed, setTyped] = useState<string>();
  if (!isLong) {
    const known =
      value === undefined || name === undefined || options.some((one) => one.value === value)
        ? options
        : [...options, { value, text: name }];
    return <FilterSelect label={label} id={id} value={value} all={all} options={known} onChange={onChange} />;
  }
  const leave = () => {
    setTyped(undefined);
    onText("");
  };
  // Without the id, the beginning of a longer name would choose a shorter one.
  const textOf = (one: Offered["options"][number]) =>
    one.text === one.value ? one.text : `${one.text} (${one.value})`;
  const change = (text: string) => {
    const chosen = options.find((one) => textOf(one) === text);
    if (text !== "" && chosen === undefined) {
      setTyped(text);
      onText(text);
      return;
    }
    leave();
    onChange(chosen?.value);
  };
  return (
    <>
      <input
        type="search"
        id={id}
        aria-label={id === undefined ? label : undefined}
        placeholder={all}
        maxLength={128}
        autoComplete="off"
        list={listId}
        value={typed ?? (value === undefined ? "" : (name ?? value))}
        onChange={({ target }) => change(target.value)}
        onBlur={leave}
      />
      <datalist id={listId}>
        {options.map((one) => (
          <option key={one.value} value={textOf(one)} />
        ))}
      </datalist>
    </>
  );
}
