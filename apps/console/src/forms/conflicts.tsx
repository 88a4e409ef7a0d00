import { Button } from "../ui/button.tsx";
import { uiWords } from "../ui/words.ts";
import { useWords } from "../words/word-table.ts";
import { type FormDefinition, typedValuesOf } from "./form-definition.ts";
import type { FormWords } from "./form-words.ts";
import type { Typed } from "./typed-values.ts";
import { formWords } from "./words.ts";

/** The fields that the reader and another person have changed. */
export interface FormConflicts {
  names: readonly string[];
  /** The newest version. */
  stored: object;
  onTake: () => void;
  onKeep: () => void;
}

interface ConflictsProps extends FormConflicts {
  definition: FormDefinition;
  words: FormWords;
}

/** Those fields, with what the other person has set; nothing where there are none. */
export function Conflicts({ definition, words, names, stored, onTake, onKeep }: ConflictsProps) {
  const { changedMeanwhile, takeTheirs, keepMine } = useWords(uiWords);
  const { either } = useWords(formWords);
  if (names.length === 0) return null;
  const theirs = typedValuesOf(definition, stored);
  const textOf = (name: string, typed: Typed = ""): string => {
    if (typeof typed === "boolean") return either[typed ? "yes" : "no"];
    const optionWords = words.options?.[name] ?? {};
    const texts =
      typeof typed === "string" ? [optionWords[typed] ?? typed] : typed.map((one) => optionWords[one] ?? one);
    return texts.join(", ").replaceAll("\n", "; ");
  };
  return (
    <div className="stack" role="alert">
      <p>{changedMeanwhile}</p>
      <dl>
        {names.map((name) => (
          <div key={name}>
            <dt className="secondary">{words.labels[name] ?? name}</dt>
            <dd>{textOf(name, theirs[name]) || "–"}</dd>
          </div>
        ))}
      </dl>
      <div className="row">
        <Button onClick={onTake}>{takeTheirs}</Button>
        <Button onClick={onKeep}>{keepMine}</Button>
      </div>
    </div>
  );
}
