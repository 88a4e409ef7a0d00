import { payoutRunRoutes } from "@intermission/operator-api/payout-runs";
import type { PublisherMoney } from "@intermission/operator-api/publisher-money";
import { useState } from "react";
import { RequestDialog } from "../forms/request-dialog.tsx";
import { useNotice } from "../ui/notices.tsx";
import { useConfirmedChange } from "../ui/use-confirmed-change.tsx";
import { useFormats } from "../words/formats.ts";
import { useWords } from "../words/word-table.ts";
import { emptyRun, payAllForm } from "./payout-form-definition.ts";
import { payoutFormWords } from "./payout-words.ts";

interface PayAllDialogProps {
  /** To whom something is due. */
  due: readonly PublisherMoney[];
  month: string;
  currency: string;
  onClose: () => void;
}

/** Records the payouts of a month to all publishers that have a payee. */
export function PayAllDialog({ due, month, currency, onClose }: PayAllDialogProps) {
  const words = useWords(payoutFormWords);
  const { exactMoney, month: nameOfMonth } = useFormats();
  const notice = useNotice();
  const run = useConfirmedChange(payoutRunRoutes.payAll, undefined, { onWithheld: onClose });
  // Pressed again after a lost answer, it is recorded once.
  const [idempotencyKey] = useState(() => crypto.randomUUID());
  const paid = due.filter(({ hasPayee }) => hasPayee);
  const others = due.filter(({ hasPayee }) => !hasPayee);
  const amountMicros = paid.reduce((sum, one) => sum + one.payableMicros, 0);
  const amount = exactMoney(amountMicros, currency);
  return (
    <RequestDialog
      title={words.payAll}
      submitText={words.recordAll(paid.length)}
      definition={payAllForm}
      initial={emptyRun}
      schema={payoutRunRoutes.payAll.body}
      fixed={{ idempotencyKey, month, amountMicros }}
      wordsOf={() => ({ labels: { reference: words.reference }, hints: { reference: words.runReferenceHint } })}
      request={run}
      onBody={(body) =>
        run.run({ body }, ({ payouts }) => {
          onClose();
          notice({ text: words.runRecorded({ payouts, amount }) });
        })
      }
      onClose={onClose}
    >
      <p>{words.paysAll({ payouts: paid.length, amount, month: nameOfMonth(month) })}</p>
      {others.length > 0 && <p className="secondary">{words.leftOut(others.map(({ name }) => name).join(", "))}</p>}
    </RequestDialog>
  );
}
