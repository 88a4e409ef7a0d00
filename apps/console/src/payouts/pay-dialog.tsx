import { moneyRoutes, type PublisherMoney } from "@intermission/operator-api/money";
import { useState } from "react";
import { Field } from "../ui/field.tsx";
import { FormDialog } from "../ui/form-dialog.tsx";
import { useNotice } from "../ui/notices.tsx";
import { useConfirmedChange } from "../ui/use-confirmed-change.tsx";
import { useFormats } from "../words/formats.ts";
import { useWords } from "../words/word-table.ts";
import { payoutWords } from "./words.ts";

interface PayDialogProps {
  publisher: PublisherMoney;
  month: string;
  currency: string;
  onClose: () => void;
}

/** Records a payout. The list shows it as paid once the server has recorded it. */
export function PayDialog({ publisher, month, currency, onClose }: PayDialogProps) {
  const words = useWords(payoutWords);
  const { exactMoney, month: nameOfMonth } = useFormats();
  const notice = useNotice();
  const payout = useConfirmedChange(moneyRoutes.recordPayout);
  // Pressed again after a lost answer, it is recorded once.
  const [idempotencyKey] = useState(() => crypto.randomUUID());
  const [reference, setReference] = useState("");
  const [note, setNote] = useState("");
  const [isMissing, setMissing] = useState(false);
  const submit = () => {
    if (reference.trim() === "") {
      setMissing(true);
      return;
    }
    // What the reader has seen, and paid.
    const amountMicros = publisher.payableMicros;
    const body = { idempotencyKey, month, amountMicros, reference, ...(note.trim() !== "" && { note }) };
    void payout.run({ params: { botId: publisher.botId }, body }, () => {
      onClose();
      notice({ text: words.recorded(exactMoney(amountMicros, currency)) });
    });
  };
  return (
    <FormDialog
      title={words.payOf(publisher.name)}
      submitText={words.record}
      isBusy={payout.isPending}
      onSubmit={submit}
      onClose={onClose}
    >
      <p>{words.pays({ amount: exactMoney(publisher.payableMicros, currency), month: nameOfMonth(month) })}</p>
      <Field
        label={words.reference}
        hint={words.referenceHint}
        fault={isMissing ? words.missing : payout.faults.reference}
      >
        {(control) => (
          <input
            {...control}
            value={reference}
            onChange={(event) => {
              setReference(event.target.value);
              setMissing(false);
            }}
          />
        )}
      </Field>
      <Field label={words.note} hint={words.optional} fault={payout.faults.note}>
        {(control) => <input {...control} value={note} onChange={(event) => setNote(event.target.value)} />}
      </Field>
    </FormDialog>
  );
}
