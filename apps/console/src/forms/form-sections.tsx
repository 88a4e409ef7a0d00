import { type ComponentType, lazy, type ReactNode, Suspense, useLayoutEffect, useState } from "react";
import { Skeleton } from "../ui/answer-view.tsx";
import { useFormats } from "../words/formats.ts";
import { useLanguage, useWords } from "../words/word-table.ts";
import type { ControlProps } from "./checks-box.tsx";
import { Conflicts, type FormConflicts } from "./conflicts.tsx";
import type { TypedValues } from "./form-definition.ts";
import type { FormWords } from "./form-words.ts";
import type { TypedForm } from "./typed-form.ts";
import { isEmpty, isSame } from "./typed-values.ts";
import { formWords } from "./words.ts";
import "./forms.css";

/** Apart: a screen with a form is near what it may weigh. */
const FieldControl = lazy(async () => ({ default: (await import("./field-control.tsx")).FieldControl }));

interface FormSectionsProps<Name extends string, Title extends string> {
  form: TypedForm<Name, Title>;
  words: FormWords<Name, Title>;
  /** What the fields hold where nothing is set: a folded section says how many of its fields differ. */
  usual?: TypedValues;
  /** What may be typed into a text, among other things. */
  suggestions?: Readonly<Partial<Record<Name, readonly string[]>>>;
  conflicts?: FormConflicts | undefined;
  /** Of fields that have a control of their own. */
  controls?: Readonly<Partial<Record<Name, ComponentType<ControlProps>>>>;
  /** Whether its first field gets the focus, as in a window that has opened. */
  hasFocus?: boolean;
}

/** The fields of a form in their sections, and the faults of what it does not show. */
export function FormSections<Name extends string, Title extends string>(props: FormSectionsProps<Name, Title>) {
  const { form, words, usual = {}, suggestions, controls, conflicts, hasFocus = false } = props;
  const { number } = useFormats();
  const { isSet } = useWords(formWords);
  return (
    <Suspense fallback={<Skeleton rows={6} />}>
      {conflicts && <Conflicts definition={form.definition} words={words} {...conflicts} />}
      {form.definition.sections.map(({ title, isFolded = false, fields }) => {
        const shown = fields.filter((name) => form.shown.includes(name));
        if (shown.length === 0) return null;
        const controlsShown = (
          <div className="two">
            {shown.map((name) => (
              <FieldControl
                key={name}
                form={form}
                name={name}
                words={words}
                suggestions={suggestions?.[name]}
                Control={controls?.[name]}
              />
            ))}
          </div>
        );
        const heading = title === undefined ? undefined : words.sections?.[title];
        if (heading === undefined) return <div key={fields[0]}>{controlsShown}</div>;
        if (!isFolded)
          return (
            <fieldset key={heading} className="form-group">
              <legend>{heading}</legend>
              {controlsShown}
            </fieldset>
          );
        const isUsual = (name: Name) =>
          usual[name] === undefined ? isEmpty(form.values[name]) : isSame(form.values[name], usual[name]);
        const count = shown.filter((name) => !isUsual(name)).length;
        return (
          <Fold
            key={heading}
            heading={heading}
            note={count === 0 ? undefined : isSet(number(count))}
            hasFault={shown.some((name) => form.faultOf(name) !== undefined)}
          >
            {controlsShown}
          </Fold>
        );
      })}
      <OtherFaults form={form} />
      {hasFocus && <FocusFirst form={form} />}
    </Suspense>
  );
}

/** Mounted with the controls, which are loaded after the window has opened. */
function FocusFirst({ form: { methods, shown } }: { form: TypedForm }) {
  useLayoutEffect(() => {
    const [first] = shown;
    if (first !== undefined) methods.setFocus(first);
  }, []);
  return null;
}

interface FoldProps {
  heading: string;
  note: string | undefined;
  hasFault: boolean;
  children: ReactNode;
}

/** A section that is shut until it is opened, or until something in it is wrong. */
function Fold({ heading, note, hasFault, children }: FoldProps) {
  const [isOpen, setOpen] = useState(false);
  // The section stays open after the fault is corrected.
  if (hasFault && !isOpen) setOpen(true);
  return (
    <details className="form-fold" open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        {heading}
        {note !== undefined && <small>{note}</small>}
      </summary>
      {children}
    </details>
  );
}

function OtherFaults({ form: { otherFaults } }: { form: TypedForm }) {
  const language = useLanguage();
  const words = useWords(formWords);
  const entries = Object.entries(otherFaults);
  return (
    <div role="alert" className="fault">
      {entries.length > 0 && (
        <>
          <p>{words.otherFaults}</p>
          <ul>
            {entries.map(([path, text]) => (
              <li key={path}>
                <code>{path}</code>: {text.in(language)}
              </li>
            ))}
          </ul>
        </>
      )}
    </div>
  );
}
