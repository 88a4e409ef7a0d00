import { publisherMoneyRoutes } from "@intermission/operator-api/publisher-money";
import { useState } from "react";
import { RequestDialog } from "../forms/request-dialog.tsx";
import { useBotName } from "../session/bot-picker.tsx";
import { useNotice } from "../ui/notices.tsx";
import { useConfirmedChange } from "../ui/use-confirmed-change.tsx";
import { useFormats } from "../words/formats.ts";
import { useWords } from "../words/word-table.ts";
import { emptyCorrection, publisherCorrectionForm } from "./correction-form-definition.ts";
import { publisherCorrectionWords } from "./correction-words.ts";

interface CorrectionDialogProps {
  botId: string;
  currency: string;
  onClose: () => void;
}

export function CorrectionDialog({ botId, currency, onClose }: CorrectionDialogProps) {
  const words = useWords(publisherCorrectionWords);
  const { exactMoney } = useFormats();
  const notice = useNotice();
  const correct = useConfirmedChange(publisherMoneyRoutes.correctPublisher, undefined, { onWithheld: onClose });
  const name = useBotName(botId) ?? botId;
  // Pressed again after a lost answer, it is recorded once.
  const [idempotencyKey] = useState(() => crypto.randomUUID());
  return (
    <RequestDialog
      title={words.title(name)}
      submitText={words.record}
      definition={publisherCorrectionForm}
      initial={emptyCorrection}
      schema={publisherMoneyRoutes.correctPublisher.body}
      fixed={{ idempotencyKey }}
      wordsOf={() => words}
      request={correct}
      onBody={(body) =>
        correct.run({ params: { botId }, body }, ({ balanceMicros }) => {
          onClose();
          notice({ text: words.recorded(exactMoney(balanceMicros, currency)) });
        })
      }
      onClose={onClose}
    >
      <p className="secondary">{words.about}</p>
    </RequestDialog>
  );
}
