import { moneyRoutes } from "@intermission/operator-api/money";
import { useState } from "react";
import { RequestDialog } from "../forms/request-dialog.tsx";
import { useNotice } from "../ui/notices.tsx";
import { useConfirmedChange } from "../ui/use-confirmed-change.tsx";
import { useFormats } from "../words/formats.ts";
import { useWords } from "../words/word-table.ts";
import { correctionForm, emptyCorrection } from "./money-form-definitions.ts";
import type { MoneyDialogProps } from "./top-up-dialog.tsx";
import { advertiserWords, optionsOfCorrection } from "./words.ts";

export function CorrectionDialog({ advertiser: { advertiserId, name }, currency, onClose }: MoneyDialogProps) {
  const words = useWords(advertiserWords);
  const { money } = useFormats();
  const notice = useNotice();
  const correct = useConfirmedChange(moneyRoutes.correctAdvertiser, undefined, { onWithheld: onClose });
  // Pressed again after a lost answer, it is recorded once.
  const [idempotencyKey] = useState(() => crypto.randomUUID());
  const { amountTitle, direction, against, why } = words;
  return (
    <RequestDialog
      title={words.correctionOf(name)}
      submitText={words.record}
      definition={correctionForm}
      initial={emptyCorrection}
      schema={moneyRoutes.correctAdvertiser.body}
      fixed={{ idempotencyKey }}
      wordsOf={() => ({
        labels: { amountMicros: amountTitle, direction, against, note: why },
        options: optionsOfCorrection(words),
      })}
      request={correct}
      onBody={(body) =>
        correct.run({ params: { advertiser: advertiserId }, body }, ({ balanceMicros }) => {
          onClose();
          notice({ text: words.toppedUp(money(balanceMicros, currency)) });
        })
      }
      onClose={onClose}
    >
      <p className="secondary">{words.correctionHint}</p>
    </RequestDialog>
  );
}
