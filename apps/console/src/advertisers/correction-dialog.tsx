import type { CorrectionAccount, CorrectionDirection } from "@intermission/operator-api/money";
import { moneyRoutes } from "@intermission/operator-api/money";
import { useState } from "react";
import { AmountField, useAmount } from "../ui/amount-field.tsx";
import { Field } from "../ui/field.tsx";
import { FormDialog } from "../ui/form-dialog.tsx";
import { useNotice } from "../ui/notices.tsx";
import { useConfirmedChange } from "../ui/use-confirmed-change.tsx";
import { useFormats } from "../words/formats.ts";
import { useWords } from "../words/word-table.ts";
import type { MoneyDialogProps } from "./top-up-dialog.tsx";
import { advertiserWords } from "./words.ts";

export function CorrectionDialog({ advertiser: { advertiserId, name }, currency, onClose }: MoneyDialogProps) {
  const words = useWords(advertiserWords);
  const { money } = useFormats();
  const notice = useNotice();
  const correct = useConfirmedChange(moneyRoutes.correctAdvertiser);
  const amount = useAmount("payment");
  // Pressed again after a lost answer, it is recorded once.
  const [idempotencyKey] = useState(() => crypto.randomUUID());
  const [direction, setDirection] = useState<CorrectionDirection>("credit");
  const [against, setAgainst] = useState<CorrectionAccount>("revenue");
  const [note, setNote] = useState("");
  const submit = () => {
    const amountMicros = amount.read();
    if (amountMicros === undefined) return;
    const body = { idempotencyKey, amountMicros, direction, against, note };
    void correct.run({ params: { advertiser: advertiserId }, body }, ({ balanceMicros }) => {
      onClose();
      notice({ text: words.toppedUp(money(balanceMicros, currency)) });
    });
  };
  return (
    <FormDialog
      title={words.correctionOf(name)}
      submitText={words.record}
      isBusy={correct.isPending}
      onSubmit={submit}
      onClose={onClose}
    >
      <p className="secondary">{words.correctionHint}</p>
      <AmountField label={words.amount(currency)} amount={amount} fault={correct.faults.amountMicros} />
      <Field label={words.direction}>
        {(control) => (
          <select
            {...control}
            value={direction}
            onChange={({ target: { value } }) => setDirection(value === "debit" ? "debit" : "credit")}
          >
            <option value="credit">{words.credit}</option>
            <option value="debit">{words.debit}</option>
          </select>
        )}
      </Field>
      <Field label={words.against}>
        {(control) => (
          <select
            {...control}
            value={against}
            onChange={({ target: { value } }) => setAgainst(value === "cash" ? "cash" : "revenue")}
          >
            <option value="revenue">{words.revenue}</option>
            <option value="cash">{words.cash}</option>
          </select>
        )}
      </Field>
      <Field label={words.why} fault={correct.faults.note}>
        {(control) => <input {...control} value={note} onChange={(event) => setNote(event.target.value)} />}
      </Field>
      {correct.dialog}
    </FormDialog>
  );
}
