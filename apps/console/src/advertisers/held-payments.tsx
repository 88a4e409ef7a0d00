import { type HeldPayment, heldPaymentRoutes } from "@intermission/operator-api/held-payments";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { useMay } from "../session/use-session.ts";
import { Button } from "../ui/button.tsx";
import { type Column, DataTable } from "../ui/data-table.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { useNotice } from "../ui/notices.tsx";
import { useConfirmedChange } from "../ui/use-confirmed-change.tsx";
import { uiWords } from "../ui/words.ts";
import { useFormats } from "../words/formats.ts";
import { useWords } from "../words/word-table.ts";
import { heldPaymentWords } from "./held-payment-words.ts";
import { useHeldPayments } from "./use-held-payments.ts";

/** What a provider has reported and may be recorded already; nothing while there is none. */
export function HeldPayments() {
  const words = useWords(heldPaymentWords);
  const { data } = useHeldPayments();
  const [decided, setDecided] = useState<HeldPayment>();
  const columns = useColumns(setDecided);
  const payments = data?.payments ?? [];
  if (payments.length === 0) return null;
  return (
    <section aria-labelledby="held-payments">
      <h2 id="held-payments">{words.title}</h2>
      <DataTable label={words.title} columns={columns} rows={payments} keyOf={({ heldId }) => heldId} />
      {decided && <DecideDialog payment={decided} onClose={() => setDecided(undefined)} />}
    </section>
  );
}

function useColumns(onDecide: (payment: HeldPayment) => void): Column<HeldPayment>[] {
  const words = useWords(heldPaymentWords);
  const may = useMay();
  const { dateTime, exactMoney } = useFormats();
  return [
    { title: words.reported, cell: ({ reportedAt }) => dateTime(reportedAt) },
    {
      title: words.advertiser,
      cell: ({ advertiserId, advertiser }) =>
        advertiser === null ? (
          advertiserId
        ) : (
          <Link to="/advertisers/$advertiserId" params={{ advertiserId }}>
            {advertiser}
          </Link>
        ),
    },
    {
      title: words.amount,
      isNumber: true,
      cell: ({ amountMicros, currency }) => exactMoney(amountMicros, currency),
    },
    { title: words.reference, cell: ({ reference }) => reference },
    { title: words.why, cell: ({ reason }) => words[reason] },
    {
      title: "",
      cell: (payment) =>
        may("dismissHeldPayment") && (
          <Button
            look="quiet"
            aria-label={words.decideOn(payment.reference ?? payment.paymentId)}
            onClick={() => onDecide(payment)}
          >
            {words.decide}
          </Button>
        ),
    },
  ];
}

function DecideDialog({ payment, onClose }: { payment: HeldPayment; onClose: () => void }) {
  const words = useWords(heldPaymentWords);
  const { cancel } = useWords(uiWords);
  const { exactMoney } = useFormats();
  const notice = useNotice();
  const credit = useConfirmedChange(heldPaymentRoutes.creditHeldPayment);
  const dismiss = useConfirmedChange(heldPaymentRoutes.dismissHeldPayment);
  const { heldId, reason, reference, paymentId, amountMicros, currency } = payment;
  const params = { heldId };
  const done = (text: string) => () => {
    onClose();
    notice({ text });
  };
  const isBusy = credit.isPending || dismiss.isPending;
  return (
    <Dialog title={words.decideOn(reference ?? paymentId)} onClose={onClose}>
      <p>
        {exactMoney(amountMicros, currency)}. {words[reason]}
      </p>
      {reason === "reference-known" && <p>{words.creditText}</p>}
      <p>{words.dismissText}</p>
      <div className="dialog-foot">
        <Button onClick={onClose}>{cancel}</Button>
        <Button isBusy={isBusy} onClick={() => void dismiss.run({ params }, done(words.dismissed))}>
          {words.dismiss}
        </Button>
        {reason === "reference-known" && (
          <Button look="primary" isBusy={isBusy} onClick={() => void credit.run({ params }, done(words.credited))}>
            {words.credit}
          </Button>
        )}
      </div>
    </Dialog>
  );
}
