import type { AmountKind } from "@intermission/operator-api/amounts";
import { useState } from "react";
import type { LocalText } from "../operator/local-text.ts";
import { useLanguage } from "../words/word-table.ts";
import { Field } from "./field.tsx";
import { readTypedAmount } from "./typed-amount.ts";
import { faultOfAmount } from "./typed-faults.ts";

/** An amount as a person writes it: its text, and its micros once it is read. */
export function useAmount(kind: AmountKind, initial = "") {
  const language = useLanguage();
  const [text, setText] = useState(initial);
  const [fault, setFault] = useState<LocalText>();
  return {
    text,
    fault,
    change(typed: string): void {
      setText(typed);
      setFault(undefined);
    },
    /** Undefined: the text is no amount, and the field says why. */
    read(): number | undefined {
      const reading = readTypedAmount(text, { kind, language });
      if (reading.outcome === "amount") return reading.micros;
      void faultOfAmount(reading).then(setFault);
      return undefined;
    },
  };
}

interface AmountFieldProps {
  label: string;
  hint?: string;
  amount: ReturnType<typeof useAmount>;
  /** Of the server's refusal. */
  fault: LocalText | undefined;
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
