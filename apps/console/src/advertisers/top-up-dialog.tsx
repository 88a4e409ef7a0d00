import { type AdvertiserMoney, moneyRoutes } from "@intermission/operator-api/money";
import { useState } from "react";
import { RequestDialog } from "../forms/request-dialog.tsx";
import { useNotice } from "../ui/notices.tsx";
import { useConfirmedChange } from "../ui/use-confirmed-change.tsx";
import { useFormats } from "../words/formats.ts";
import { useWords } from "../words/word-table.ts";
import { emptyTopUp, topUpForm } from "./money-form-definitions.ts";
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
  const record = useConfirmedChange(moneyRoutes.recordTopUp, words.record, { onWithheld: onClose });
  // Pressed again after a lost answer, it is recorded once.
  const [idempotencyKey] = useState(() => crypto.randomUUID());
  return (
    <RequestDialog
      title={words.topUpOf(name)}
      submitText={words.record}
      definition={topUpForm}
      initial={emptyTopUp}
      schema={moneyRoutes.recordTopUp.body}
      fixed={{ idempotencyKey }}
      wordsOf={() => ({
        labels: { amountMicros: words.amountTitle, reference: words.reference, note: words.note },
        hints: { reference: words.referenceHint, note: words.optional },
      })}
      request={record}
      onBody={(body) =>
        record.run({ params: { advertiser: advertiserId }, body }, ({ balanceMicros }) => {
          onClose();
          notice({ text: words.toppedUp(money(balanceMicros, currency)) });
        })
      }
      onClose={onClose}
    />
  );
}
