import { type ReactNode, useId } from "react";
import type { FormField } from "./form-fields.ts";
import type { TypedForm } from "./typed-form.ts";

/** What the control of a field is given. */
export interface ControlProps {
  form: TypedForm;
  field: FormField;
  label: string;
  hint: string | undefined;
  fault: string | undefined;
}

interface ChecksBoxProps extends Pick<ControlProps, "label" | "hint" | "fault"> {
  className?: string;
  children: ReactNode;
}

/** Several boxes with one label, hint and fault. */
export function ChecksBox({ label, hint, fault, className = "", children }: ChecksBoxProps) {
  const id = useId();
  return (
    <fieldset className={`choices ${className}`} aria-describedby={`${id}-hint ${id}-fault`}>
      <legend>{label}</legend>
      {children}
      <p className="hint" id={`${id}-hint`} hidden={hint === undefined}>
        {hint}
      </p>
      <p className="fault" id={`${id}-fault`} role="alert">
        {fault}
      </p>
    </fieldset>
  );
}
