import type { ComponentProps, KeyboardEvent, SyntheticEvent } from "react";
import type { LocalText } from "../operator/local-text.ts";
import { useFormats } from "../words/formats.ts";
import { useWords } from "../words/word-table.ts";
import { Field } from "./field.tsx";
import { readLocalTime, shownLocalTime, typedLocalTime } from "./local-time.ts";
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
  const take = ({ currentTarget }: SyntheticEvent<HTMLInputElement>) => onText?.(typedLocalTime(currentTarget));
  // An unfinished time makes no change, so it is read before the form is sent, too.
  const state = onText && {
    value: shownLocalTime(text),
    onChange: take,
    onBlur: take,
    onKeyDown: (event: KeyboardEvent<HTMLInputElement>) => event.key === "Enter" && take(event),
  };
  const meaning = read?.at && read.isTwice ? words.twice(dateTime(read.at)) : words.inZone(zone);
  return (
    <Field label={label} hint={`${meaning} ${hint}`.trim()} fault={read === undefined ? words.noSuchTime : fault}>
      {(control) => <input type="datetime-local" max="9999-12-31T23:59" {...control} {...rest} {...state} />}
    </Field>
  );
}
