import { moneyRoutes } from "@intermission/operator-api/money";
import { useState } from "react";
import { FormDialog } from "../ui/form-dialog.tsx";
import { useNotice } from "../ui/notices.tsx";
import { useConfirmedChange } from "../ui/use-confirmed-change.tsx";
import { uiWords } from "../ui/words.ts";
import { useWords } from "../words/word-table.ts";
import { TermsFields, useTerms } from "./terms-fields.tsx";
import type { MoneyDialogProps } from "./top-up-dialog.tsx";
import { advertiserWords } from "./words.ts";

/** Whether an advertiser pays before or after, and up to which limit. */
export function TermsDialog({ advertiser, currency, onClose }: MoneyDialogProps) {
  const words = useWords(advertiserWords);
  const { save, saved } = useWords(uiWords);
  const notice = useNotice();
  const set = useConfirmedChange(moneyRoutes.setTerms);
  const { advertiserId, name, creditLimitMicros } = advertiser;
  // What the reader has seen, and nothing that was set since.
  const [expected] = useState({ billing: advertiser.billing, creditLimitMicros });
  const terms = useTerms(expected);
  const submit = () => {
    const chosen = terms.read();
    if (chosen === undefined) return;
    const body = { ...chosen, expected };
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
      <TermsFields terms={terms} currency={currency} faults={set.faults} />
      {set.dialog}
    </FormDialog>
  );
}
