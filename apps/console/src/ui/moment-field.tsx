import type { ChangeEvent, ComponentProps } from "react";
import type { LocalText } from "../operator/local-text.ts";
import { useFormats } from "../words/formats.ts";
import { useWords } from "../words/word-table.ts";
import { Field } from "./field.tsx";
import { readLocalTime } from "./local-time.ts";
import { uiWords } from "./words.ts";

interface MomentFieldProps extends ComponentProps<"input"> {
  label: string;
  /** What the field holds. */
  text: string;
  /** Where its text is a state; a form reads it by itself. */
  onText?: (text: string) => void;
  hint?: string | undefined;
  fault?: string | LocalText | undefined;
}

/** A day and a time in the reader's zone, which stands under the field; a time that clocks skip or repeat is said so. */
export function MomentField({ label, text, onText, hint = "", fault, ...rest }: MomentFieldProps) {
  const words = useWords(uiWords);
  const { zone, dateTime } = useFormats();
  const read = readLocalTime(text);
  const state = onText && {
    value: text,
    onChange: (event: ChangeEvent<HTMLInputElement>) => onText(event.target.value),
  };
  const meaning = read?.at && read.isTwice ? words.twice(dateTime(read.at)) : words.inZone(zone);
  return (
    <Field label={label} hint={`${meaning} ${hint}`.trim()} fault={read === undefined ? words.noSuchTime : fault}>
      {(control) => <input type="datetime-local" max="9999-12-31T23:59" {...control} {...rest} {...state} />}
    </Field>
  );
}
