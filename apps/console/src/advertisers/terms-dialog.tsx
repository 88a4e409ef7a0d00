import { amountOf } from "@intermission/operator-api/amounts";
import { billings, moneyRoutes } from "@intermission/operator-api/money";
import { useState } from "react";
import { AmountField, useAmount } from "../ui/amount-field.tsx";
import { Field } from "../ui/field.tsx";
import { FormDialog } from "../ui/form-dialog.tsx";
import { useNotice } from "../ui/notices.tsx";
import { useConfirmedChange } from "../ui/use-confirmed-change.tsx";
import { uiWords } from "../ui/words.ts";
import { useLanguage, useWords } from "../words/word-table.ts";
import type { MoneyDialogProps } from "./top-up-dialog.tsx";
import { advertiserWords, billingWords } from "./words.ts";

/** Whether an advertiser pays before or after, and up to which limit. */
export function TermsDialog({ advertiser, currency, onClose }: MoneyDialogProps) {
  const words = useWords(advertiserWords);
  const { save, saved } = useWords(uiWords);
  const names = billingWords[useLanguage()];
  const notice = useNotice();
  const set = useConfirmedChange(moneyRoutes.setTerms);
  const { advertiserId, name, creditLimitMicros } = advertiser;
  // What the reader has seen, and nothing that was set since.
  const [expected] = useState({ billing: advertiser.billing, creditLimitMicros });
  const [billing, setBilling] = useState(advertiser.billing);
  const limit = useAmount("budget", creditLimitMicros === null ? "" : amountOf(creditLimitMicros));
  const submit = () => {
    const hasLimit = billing === "credit" && limit.text.trim() !== "";
    const limitMicros = hasLimit ? limit.read() : null;
    if (limitMicros === undefined) return;
    const body = { billing, creditLimitMicros: limitMicros, expected };
    void set.run({ params: { advertiser: advertiserId }, body }, () => {
      onClose();
      notice({ text: saved });
    });
  };
  return (
    <FormDialog
      title={words.termsOf(name)}
      submitText={save}
      isBusy={set.isPending}
      onSubmit={submit}
      onClose={onClose}
    >
      <Field label={words.billing} fault={set.faults.billing}>
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
          label={words.creditLimit(currency)}
          hint={words.creditLimitHint}
          amount={limit}
          fault={set.faults.creditLimitMicros}
        />
      )}
      {set.dialog}
    </FormDialog>
  );
}
