import { type ReactNode, useEffect, useState } from "react";
import { type DefaultValues, type FieldValues, type UseFormReturn, useForm } from "react-hook-form";
import { useWords } from "../words/word-table.ts";
import { Button } from "./button.tsx";
import { uiWords } from "./words.ts";

export type FieldOf<Values> = keyof Values & string;

/** The fields in which two states of a form differ, in their order on the page. */
export function changedFields<Values extends FieldValues>(before: Values, after: Values): FieldOf<Values>[] {
  const names: FieldOf<Values>[] = Object.keys(before);
  return names.filter((name) => String(before[name]) !== String(after[name]));
}

export interface TypedSettings<Stored, Values extends FieldValues> {
  form: UseFormReturn<Values>;
  /** The version that is changed: its `updatedAt` goes with the request. */
  seen: Stored;
  /** The fields in which the form differs from it. */
  typed: FieldOf<Values>[];
  /** Those that another person has changed, too: the reader chooses (`Conflicts`). */
  conflicts: FieldOf<Values>[];
  /** Shows a stored version; `kept`: the fields that stay as they are typed. */
  show: (stored: Stored, kept?: readonly FieldOf<Values>[]) => void;
  /** Shows the newest version, except for what was typed. */
  keepTyped: () => void;
}

/**
 * The form of stored settings that several people change. What another person changes appears in the fields that were not typed
 * into. `stored`: the newest version that was read. `valuesOf`: what the form's fields hold of it.
 */
export function useTypedSettings<Stored extends { updatedAt: Date }, Values extends FieldValues>(
  stored: Stored,
  valuesOf: (stored: Stored) => Values,
): TypedSettings<Stored, Values> {
  const [seen, setSeen] = useState(stored);
  // All values are there; the library's type has each of them optional.
  const form = useForm<Values>({ defaultValues: valuesOf(stored) as DefaultValues<Values> });
  const values = form.watch();
  const typed = changedFields(valuesOf(seen), values);
  const isNewer = stored.updatedAt > seen.updatedAt;
  const theirs = isNewer ? changedFields(valuesOf(seen), valuesOf(stored)) : [];
  const others = changedFields(valuesOf(stored), values);
  const conflicts = theirs.filter((field) => typed.includes(field) && others.includes(field));
  const show = (shown: Stored, kept: readonly FieldOf<Values>[] = []) => {
    const current = form.getValues();
    const own = Object.fromEntries(kept.map((field) => [field, current[field]]));
    form.reset({ ...valuesOf(shown), ...own });
    setSeen(shown);
  };
  const keepTyped = () => show(stored, typed);
  const isMerged = isNewer && conflicts.length === 0;
  useEffect(() => {
    if (isMerged) keepTyped();
  });
  return { form, seen, typed, conflicts, show, keepTyped };
}

interface ConflictsProps {
  /** What each field is called, with the value that another person has set. */
  fields: readonly { label: string; value: string }[];
  onTake: () => void;
  onKeep: () => void;
}

/** The fields that the reader and another person have changed; nothing where there are none. */
export function Conflicts({ fields, onTake, onKeep }: ConflictsProps): ReactNode {
  const words = useWords(uiWords);
  if (fields.length === 0) return null;
  return (
    <div className="stack" role="alert">
      <p>{words.changedMeanwhile}</p>
      <dl>
        {fields.map(({ label, value }) => (
          <div key={label}>
            <dt className="secondary">{label}</dt>
            <dd>{value || "–"}</dd>
          </div>
        ))}
      </dl>
      <div className="row">
        <Button onClick={onTake}>{words.takeTheirs}</Button>
        <Button onClick={onKeep}>{words.keepMine}</Button>
      </div>
    </div>
  );
}
