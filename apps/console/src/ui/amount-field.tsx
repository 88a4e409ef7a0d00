import { readAmount } from "@intermission/operator-api/amounts";
import { useState } from "react";
import { Field } from "./field.tsx";

/** An amount as a person writes it: its text, and its micros once it is read. */
export function useAmount(initial = "") {
  const [text, setText] = useState(initial);
  const [fault, setFault] = useState<string>();
  return {
    text,
    fault,
    change(typed: string): void {
      setText(typed);
      setFault(undefined);
    },
    /** Undefined: the text is no amount, and the field says why. */
    read(): number | undefined {
      const reading = readAmount(text.trim(), "budget");
      if (reading.outcome === "amount") return reading.micros;
      setFault(reading.message);
      return undefined;
    },
  };
}

interface AmountFieldProps {
  label: string;
  hint?: string;
  amount: ReturnType<typeof useAmount>;
  /** Of the server's refusal. */
  fault: string | undefined;
}

export function AmountField({ label, hint, amount, fault }: AmountFieldProps) {
  return (
    <Field label={label} hint={hint} fault={amount.fault ?? fault}>
      {(control) => (
        <input
          {...control}
          inputMode="decimal"
          value={amount.text}
          onChange={(event) => amount.change(event.target.value)}
        />
      )}
    </Field>
  );
}
