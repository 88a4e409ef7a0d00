import { type KeyboardEvent, useId, useMemo, useState } from "react";
import { useLanguage, useWords } from "../words/word-table.ts";
import { viewWords } from "./view-words.ts";
import { findZones, nameOfZone } from "./zone-names.ts";

/** More are found by typing. */
const MAX_SHOWN = 8;

interface ZoneFieldProps {
  id: string;
  zone: string;
  onChange: (zone: string) => void;
}

/** A time zone, which is found by its city, its country or its name: typing, arrows, Enter. */
export function ZoneField({ id, zone, onChange }: ZoneFieldProps) {
  const words = useWords(viewWords);
  const language = useLanguage();
  const list = useId();
  /** Undefined: nothing is searched for. */
  const [text, setText] = useState<string>();
  const [at, setAt] = useState(0);
  const isOpen = text !== undefined;
  const found = useMemo(
    () => (text === undefined ? [] : findZones(text, language).slice(0, MAX_SHOWN)),
    [text, language],
  );
  const search = (next: string | undefined) => {
    setText(next);
    setAt(0);
  };
  const choose = (name: string | undefined) => {
    if (name !== undefined) onChange(name);
    search(undefined);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) {
      event.preventDefault();
      if (isOpen) setAt((at + step + found.length) % Math.max(1, found.length));
      else search("");
    }
    if (event.key === "Enter") choose(found[at]);
    if (event.key === "Escape") search(undefined);
  };
  return (
    <div className="zone">
      <input
        id={id}
        role="combobox"
        autoComplete="off"
        spellCheck={false}
        aria-expanded={found.length > 0}
        aria-controls={list}
        aria-activedescendant={found[at] && `${list}-${at}`}
        value={text ?? nameOfZone(zone)}
        onFocus={({ target }) => target.select()}
        onChange={({ target }) => search(target.value)}
        onKeyDown={onKeyDown}
        onBlur={() => search(undefined)}
      />
      <div id={list} role="listbox" aria-label={words.zones} className="zones" hidden={found.length === 0}>
        {found.map((name, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the focus stays in the field, whose keys choose.
          // biome-ignore lint/a11y/useFocusableInteractive: as above.
          <div
            key={name}
            id={`${list}-${index}`}
            role="option"
            aria-selected={index === at}
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => choose(name)}
          >
            {name}
          </div>
        ))}
      </div>
      {isOpen && found.length === 0 && (
        <p className="zones secondary" role="status">
          {words.noZone}
        </p>
      )}
    </div>
  );
}
