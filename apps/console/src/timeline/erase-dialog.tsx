import { userRoutes } from "@intermission/operator-api/users";
import { useAnswer } from "../operator/use-operator.ts";
import { AnswerView } from "../ui/answer-view.tsx";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { useNotice } from "../ui/notices.tsx";
import { useConfirmedChange } from "../ui/use-confirmed-change.tsx";
import { uiWords } from "../ui/words.ts";
import { useWords } from "../words/word-table.ts";
import { timelineWords } from "./words.ts";

interface EraseDialogProps {
  botId: string;
  userId: string;
  onClose: () => void;
}

/** Erases a user of a bot. There is no inverse, so the records are counted first. */
export function EraseDialog({ botId, userId, onClose }: EraseDialogProps) {
  const words = useWords(timelineWords);
  const { cancel } = useWords(uiWords);
  const notice = useNotice();
  const params = { botId, userId };
  const counted = useAnswer(userRoutes.countRecordsOfUser, { params });
  const erase = useConfirmedChange(userRoutes.eraseUser);
  const onErase = () =>
    void erase.run({ params }, () => {
      onClose();
      notice({ text: words.erased });
    });
  return (
    <Dialog title={words.eraseOf(userId)} onClose={onClose}>
      <AnswerView query={counted} rows={3}>
        {({ tables, undelivered }) => {
          const records = tables.reduce((sum, { rows }) => sum + rows, 0);
          if (records === 0) return <p>{words.nothingStored}</p>;
          return (
            <>
              <p>{words.eraseCount(records)}</p>
              {undelivered > 0 && <p className="late">{words.eraseUndelivered(undelivered)}</p>}
              <p>{words.eraseText}</p>
              <div className="dialog-foot">
                <Button onClick={onClose}>{cancel}</Button>
                <Button look="danger" isBusy={erase.isPending} onClick={onErase}>
                  {words.erase}
                </Button>
              </div>
            </>
          );
        }}
      </AnswerView>
    </Dialog>
  );
}
