import { useEffect, useState } from "react";
import { Icon } from "./icon.tsx";

/** How long the reader may pause while typing. */
const TYPING_MS = 200;

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
  useEffect(() => setText(value), [value]);
  useEffect(() => {
    if (text === value) return;
    const timer = setTimeout(() => onChange(text), TYPING_MS);
    return () => clearTimeout(timer);
  }, [text, value, onChange]);
  return (
    <label className="search">
      <Icon name="search" />
      <span className="only-heard">{label}</span>
      <input type="search" placeholder={label} value={text} onChange={(event) => setText(event.target.value)} />
    </label>
  );
}
