import { useEffect, useRef, useState } from "react";
import { Icon } from "./icon.tsx";
import { usePaused } from "./use-paused.ts";

interface SearchFieldProps {
  label: string;
  value: string;
  onChange: (text: string) => void;
  /** What can be sought; of another text the field says `fault`, and passes on nothing. */
  form?: { pattern: RegExp; fault: string };
}

/**
 * The search field of a list: `/` leads to it, and what is typed is passed on after a short pause, without the blanks around it
 * that come with pasted ids.
 */
export function SearchField({ label, value, onChange, form }: SearchFieldProps) {
  const [text, setText] = useState(value);
  const paused = usePaused(text);
  const passedOn = useRef(value);
  const passOn = useRef(() => {});
  const isRefused = (typed: string) => form !== undefined && typed.trim() !== "" && !form.pattern.test(typed.trim());
  passOn.current = () => {
    const sought = isRefused(text) ? "" : text.trim();
    if (sought === passedOn.current) return;
    passedOn.current = sought;
    onChange(sought);
  };
  useEffect(() => {
    // Typing may have gone on since it was passed on.
    if (value === passedOn.current) return;
    passedOn.current = value;
    setText(value);
  }, [value]);
  useEffect(() => passOn.current(), [paused]);
  const fault = isRefused(paused) && isRefused(text) ? form?.fault : undefined;
  return (
    <>
      <label className="search">
        <Icon name="search" />
        <span className="only-heard">{label}</span>
        <input
          type="search"
          data-of-list
          placeholder={label}
          value={text}
          aria-invalid={fault !== undefined}
          onChange={(event) => setText(event.target.value)}
          // Later, it would take back the step to where a click leads.
          onBlur={() => passOn.current()}
        />
      </label>
      {form !== undefined && (
        <span className="fault" role="alert">
          {fault}
        </span>
      )}
    </>
  );
}
