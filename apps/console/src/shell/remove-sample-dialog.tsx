import { sampleRoutes } from "@intermission/operator-api/sample";
import { FormDialog } from "../ui/form-dialog.tsx";
import { useNotice } from "../ui/notices.tsx";
import { useConfirmedChange } from "../ui/use-confirmed-change.tsx";
import { useWords } from "../words/word-table.ts";
import { shellWords } from "./words.ts";

/** Apart, so that screens do not load what few ever open. */
export function RemoveSampleDialog({ onClose }: { onClose: () => void }) {
  const words = useWords(shellWords);
  const notice = useNotice();
  const removal = useConfirmedChange(sampleRoutes.removeSample);
  const remove = () =>
    void removal.run({}, () => {
      onClose();
      notice({ text: words.sampleRemoved });
    });
  return (
    <FormDialog
      title={words.removeSample}
      submitText={words.removeIt}
      isBusy={removal.isPending}
      onSubmit={remove}
      onClose={onClose}
    >
      <p>{words.removedWithSample}</p>
      <p className="secondary">{words.sampleCommands}</p>
    </FormDialog>
  );
}
