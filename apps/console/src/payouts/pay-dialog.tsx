import { type PublisherMoney, publisherMoneyRoutes } from "@intermission/operator-api/publisher-money";
import { useState } from "react";
import { RequestDialog } from "../forms/request-dialog.tsx";
import { useNotice } from "../ui/notices.tsx";
import { useConfirmedChange } from "../ui/use-confirmed-change.tsx";
import { useFormats } from "../words/formats.ts";
import { useWords } from "../words/word-table.ts";
import { emptyPayout, payoutForm } from "./payout-form-definition.ts";
import { payoutFormWords } from "./payout-words.ts";

interface PayDialogProps {
  title: string;
  publisher: PublisherMoney;
  month: string;
  currency: string;
  onClose: () => void;
}

/** Records a payout. The list shows it as paid once the server has recorded it. */
export function PayDialog({ title, publisher, month, currency, onClose }: PayDialogProps) {
  const words = useWords(payoutFormWords);
  const { exactMoney, month: nameOfMonth } = useFormats();
  const notice = useNotice();
  const payout = useConfirmedChange(publisherMoneyRoutes.recordPayout, undefined, { onWithheld: onClose });
  // Pressed again after a lost answer, it is recorded once.
  const [idempotencyKey] = useState(() => crypto.randomUUID());
  const { botId, payableMicros: amountMicros } = publisher;
  const amount = exactMoney(amountMicros, currency);
  return (
    <RequestDialog
      title={title}
      submitText={words.record}
      definition={payoutForm}
      initial={emptyPayout}
      schema={publisherMoneyRoutes.recordPayout.body}
      fixed={{ idempotencyKey, month, amountMicros }}
      wordsOf={() => ({
        labels: { reference: words.reference, note: words.note },
        hints: { reference: words.referenceHint, note: words.optional },
      })}
      request={payout}
      onBody={(body) =>
        payout.run({ params: { botId }, body }, () => {
          onClose();
          notice({ text: words.recorded(amount) });
        })
      }
      onClose={onClose}
    >
      <p>{words.pays({ amount, month: nameOfMonth(month) })}</p>
    </RequestDialog>
  );
}
