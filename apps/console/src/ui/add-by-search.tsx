import { useRef, useState } from "react";
import { Button } from "./button.tsx";
import { Field } from "./field.tsx";
import { SearchSelect } from "./search-select.tsx";
import type { Offered } from "./use-offered.ts";

interface AddBySearchProps {
  label: string;
  /** While nothing is chosen. */
  choose: string;
  button: string;
  /** What is searched: offers of another one are not shown. */
  of: string;
  read: (find: string | undefined, signal: AbortSignal) => Promise<Offered>;
  isBusy: boolean;
  onAdd: (chosen: { id: string; name: string }) => void;
}

/** A field that searches objects by name, and a button that adds the chosen one. */
export function AddBySearch({ label, choose, button, of, read, isBusy, onAdd }: AddBySearchProps) {
  const [chosen, setChosen] = useState<{ id: string; name: string }>();
  const names = useRef(new Map<string, string>());
  const readNamed = async (find: string | undefined, signal: AbortSignal) => {
    const offered = await read(find, signal);
    for (const { value, text } of offered.options) names.current.set(value, text);
    return offered;
  };
  return (
    <form
      className="one-field"
      onSubmit={(event) => {
        event.preventDefault();
        if (chosen === undefined || isBusy) return;
        onAdd(chosen);
        setChosen(undefined);
      }}
    >
      <Field label={label}>
        {(field) => (
          <SearchSelect
            id={field.id}
            label={label}
            value={chosen?.id}
            name={chosen?.name}
            all={choose}
            of={of}
            read={readNamed}
            onChange={(id) => setChosen(id === undefined ? undefined : { id, name: names.current.get(id) ?? id })}
          />
        )}
      </Field>
      <Button type="submit" isBusy={isBusy}>
        {button}
      </Button>
    </form>
  );
}
