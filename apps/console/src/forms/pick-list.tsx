import type { KeyboardEvent, ReactNode } from "react";
import { useController } from "react-hook-form";
import { useWords } from "../words/word-table.ts";
import { ChecksBox, type ControlProps } from "./checks-box.tsx";
import { meantBy, type Pick } from "./meant-by.ts";
import { formWords } from "./words.ts";

interface PickListProps extends ControlProps {
  /** What is searched for. */
  text: string;
  onText: (text: string) => void;
  /** Those that are found, chosen or not; undefined while they are searched for. */
  found: readonly Pick[] | undefined;
  /** Whether these are found by the text, and not by one before it. */
  isOfText: boolean;
  /** The name of a chosen one that is not among those found. */
  nameOf: (value: string) => ReactNode;
  /** Said after the search. */
  status: string | undefined;
}

/** Values that are chosen from a list by a search: the chosen ones, and those that are found, each with a box. */
export function PickList({
  form,
  field,
  label,
  hint,
  fault,
  text,
  onText,
  found,
  isOfText,
  nameOf,
  status,
}: PickListProps) {
  const words = useWords(formWords);
  const { field: held } = useController({ control: form.methods.control, name: field.name });
  const chosen = Array.isArray(held.value) ? held.value : [];
  const choose = (value: string, isChosen: boolean) =>
    held.onChange(isChosen ? [...chosen, value] : chosen.filter((one) => one !== value));
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Enter") return;
    // The first one that is found is meant, and not the form.
    event.preventDefault();
    const meant = isOfText ? meantBy(text, { found, chosen }) : undefined;
    if (meant === undefined) return;
    choose(meant.value, true);
    onText("");
  };
  const others = found === undefined ? [] : chosen.filter((one) => !found.some(({ value }) => value === one));
  const box = (value: string, name: ReactNode) => (
    <label key={value}>
      <input
        type="checkbox"
        checked={chosen.includes(value)}
        onChange={(event) => choose(value, event.target.checked)}
      />
      {name}
    </label>
  );
  return (
    <ChecksBox label={label} hint={hint} fault={fault}>
      <input
        type="search"
        ref={held.ref}
        aria-label={words.find(label)}
        placeholder={words.add}
        maxLength={128}
        value={text}
        onChange={(event) => onText(event.target.value)}
        onKeyDown={onKeyDown}
      />
      {others.map((value) => box(value, nameOf(value)))}
      {found?.map(({ value, text: name }) => box(value, name))}
      <p className="hint" role="status">
        {status}
      </p>
    </ChecksBox>
  );
}

/** So many of what is found are shown. */
const MAX_FOUND = 8;

/** The same of a list that the page has whole: a short one is shown before anything is searched for. */
export function WholePickList({
  picks,
  text,
  ...props
}: ControlProps & { picks: readonly Pick[]; text: string; onText: (text: string) => void }) {
  const words = useWords(formWords);
  const search = text.trim().toLowerCase();
  const matching =
    search === "" && picks.length > MAX_FOUND
      ? []
      : picks.filter((pick) => pick.text.toLowerCase().includes(search) || pick.value.toLowerCase() === search);
  // A code or an id that is typed whole is meant first.
  const ranked = matching.toSorted(
    (one, other) => Number(other.value.toLowerCase() === search) - Number(one.value.toLowerCase() === search),
  );
  const status = matching.length > MAX_FOUND ? words.moreFound : words.noneFound;
  return (
    <PickList
      {...props}
      text={text}
      found={ranked.slice(0, MAX_FOUND)}
      isOfText
      nameOf={(value) => picks.find((pick) => pick.value === value)?.text ?? value}
      status={search !== "" && (matching.length === 0 || matching.length > MAX_FOUND) ? status : undefined}
    />
  );
}
