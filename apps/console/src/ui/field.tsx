import { type ReactNode, useId } from "react";
import type { LocalText } from "../operator/local-text.ts";
import { useLanguage } from "../words/word-table.ts";

interface FieldProps {
  label: string;
  hint?: ReactNode;
  fault?: string | LocalText | undefined;
  /** The control: spread what it gets, so that label, hint and fault belong to it. */
  children: (control: { id: string; "aria-describedby": string; "aria-invalid": boolean }) => ReactNode;
}

/** A label, its control, a hint, and what is wrong with the value. */
export function Field({ label, hint, fault, children }: FieldProps) {
  const id = useId();
  const language = useLanguage();
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {children({ id, "aria-describedby": `${id}-hint ${id}-fault`, "aria-invalid": fault !== undefined })}
      <p className="hint" id={`${id}-hint`} hidden={hint === undefined}>
        {hint}
      </p>
      <p className="fault" id={`${id}-fault`} role="alert">
        {typeof fault === "object" ? fault.in(language) : fault}
      </p>
    </div>
  );
}
