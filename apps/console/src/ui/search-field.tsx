import { useEffect, useRef, useState } from "react";
import { Icon } from "./icon.tsx";
import { usePaused } from "./use-paused.ts";

/** The search field of a list: `/` leads to it, and what is typed is passed on after a short pause. */
export function SearchField({
  label,
  value,
  onChange,
}: {
  label: string;
  value: string;
  onChange: (text: string) => void;
}) {
  const [text, setText] = useState(value);
  const paused = usePaused(text);
  const passedOn = useRef(value);
  const passOn = useRef(() => {});
  passOn.current = () => {
    if (text === passedOn.current) return;
    passedOn.current = text;
    onChange(text);
  };
  useEffect(() => {
    // Typing may have gone on since it was passed on.
    if (value === passedOn.current) return;
    passedOn.current = value;
    setText(value);
  }, [value]);
  useEffect(() => passOn.current(), [paused]);
  return (
    <label className="search">
      <Icon name="search" />
      <span className="only-heard">{label}</span>
      <input
        type="search"
        placeholder={label}
        value={text}
        onChange={(event) => setText(event.target.value)}
        // Later, it would take back the step to where a click leads.
        onBlur={() => passOn.current()}
      />
    </label>
  );
}
