import { type AdvertiserMoney, moneyRoutes } from "@intermission/operator-api/money";
import { useState } from "react";
import { AmountField, useAmount } from "../ui/amount-field.tsx";
import { Field } from "../ui/field.tsx";
import { FormDialog } from "../ui/form-dialog.tsx";
import { useNotice } from "../ui/notices.tsx";
import { useConfirmedChange } from "../ui/use-confirmed-change.tsx";
import { useFormats } from "../words/formats.ts";
import { useWords } from "../words/word-table.ts";
import { advertiserWords } from "./words.ts";

export interface MoneyDialogProps {
  advertiser: AdvertiserMoney;
  currency: string;
  onClose: () => void;
}

/** Records what an advertiser paid in. A reference that stands on a top-up already needs a confirmation. */
export function TopUpDialog({ advertiser: { advertiserId, name }, currency, onClose }: MoneyDialogProps) {
  const words = useWords(advertiserWords);
  const { money } = useFormats();
  const notice = useNotice();
  const record = useConfirmedChange(moneyRoutes.recordTopUp, words.record);
  const amount = useAmount("payment");
  // Pressed again after a lost answer, it is recorded once.
  const [idempotencyKey] = useState(() => crypto.randomUUID());
  const [reference, setReference] = useState("");
  const [note, setNote] = useState("");
  const submit = () => {
    const amountMicros = amount.read();
    if (amountMicros === undefined) return;
    const body = { idempotencyKey, amountMicros, reference, ...(note.trim() !== "" && { note }) };
    void record.run({ params: { advertiser: advertiserId }, body }, ({ balanceMicros }) => {
      onClose();
      notice({ text: words.toppedUp(money(balanceMicros, currency)) });
    });
  };
  return (
    <FormDialog
      title={words.topUpOf(name)}
      submitText={words.record}
      isBusy={record.isPending}
      onSubmit={submit}
      onClose={onClose}
    >
      <AmountField label={words.amount(currency)} amount={amount} fault={record.faults.amountMicros} />
      <Field label={words.reference} hint={words.referenceHint} fault={record.faults.reference}>
        {(control) => <input {...control} value={reference} onChange={(event) => setReference(event.target.value)} />}
      </Field>
      <Field label={words.note} hint={words.optional} fault={record.faults.note}>
        {(control) => <input {...control} value={note} onChange={(event) => setNote(event.target.value)} />}
      </Field>
      {record.dialog}
    </FormDialog>
  );
}
