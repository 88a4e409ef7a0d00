import { amountOf } from "@intermission/operator-api/amounts";
import { billings, type Terms } from "@intermission/operator-api/terms";
import { useState } from "react";
import type { LocalText } from "../operator/local-text.ts";
import { AmountField, useAmount } from "../ui/amount-field.tsx";
import { Field } from "../ui/field.tsx";
import { billingWords, termsWords } from "../words/terms-words.ts";
import { useLanguage, useWords } from "../words/word-table.ts";

/** Whether an advertiser pays before or after, and up to which limit, as a person chooses it. */
export function useTerms(initial: Terms) {
  const [billing, setBilling] = useState(initial.billing);
  const { creditLimitMicros } = initial;
  const limit = useAmount("budget", creditLimitMicros === null ? "" : amountOf(creditLimitMicros));
  return {
    billing,
    setBilling,
    limit,
    /** Undefined: the limit is no amount, and its field says why. */
    read(): Terms | undefined {
      if (billing === "prepaid" || limit.text.trim() === "") return { billing, creditLimitMicros: null };
      const limitMicros = limit.read();
      return limitMicros === undefined ? undefined : { billing, creditLimitMicros: limitMicros };
    },
  };
}

interface TermsFieldsProps {
  terms: ReturnType<typeof useTerms>;
  currency: string;
  /** Of the server's refusal. */
  faults: Readonly<Record<string, LocalText>>;
}

export function TermsFields({ terms: { billing, setBilling, limit }, currency, faults }: TermsFieldsProps) {
  const words = useWords(termsWords);
  const names = billingWords[useLanguage()];
  return (
    <>
      <Field label={words.billing} hint={words.billingHints[billing]} fault={faults.billing}>
        {(control) => (
          <select
            {...control}
            value={billing}
            onChange={({ target: { value } }) => setBilling(billings.find((one) => one === value) ?? billing)}
          >
            {billings.map((one) => (
              <option key={one} value={one}>
                {names[one]}
              </option>
            ))}
          </select>
        )}
      </Field>
      {billing === "credit" && (
        <AmountField
          label={`${words.creditLimit}, ${currency}`}
          hint={words.creditLimitHint}
          amount={limit}
          fault={faults.creditLimitMicros}
        />
      )}
    </>
  );
}
