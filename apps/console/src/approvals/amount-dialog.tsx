import { moneyRequestRoutes } from "@intermission/operator-api/money-requests";
import type { AnswerOf } from "@intermission/operator-api/route";
import { FormSections } from "../forms/form-sections.tsx";
import { StoredForm } from "../forms/stored-form.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { useConfirmedChange } from "../ui/use-confirmed-change.tsx";
import { useWords } from "../words/word-table.ts";
import { amountForm } from "./forms.ts";
import { approvalWords } from "./words.ts";

const { setApprovalAmount } = moneyRequestRoutes;

interface AmountDialogProps {
  stored: AnswerOf<typeof setApprovalAmount>;
  onClose: () => void;
}

/** Above which amount a second person approves. A higher one, or none, waits for a second owner. */
export function AmountDialog({ stored, onClose }: AmountDialogProps) {
  const words = useWords(approvalWords);
  const set = useConfirmedChange(setApprovalAmount, undefined, { onWithheld: onClose });
  return (
    <Dialog title={words.setAmount} onClose={onClose}>
      <p className="secondary">{words.setAmountText}</p>
      <StoredForm
        definition={amountForm}
        stored={stored}
        schema={setApprovalAmount.body}
        isWhole
        isPending={set.isPending}
        serverFaults={set.faults}
        onSave={(body, _seen, onDone) => set.run({ body }, onDone)}
        onClose={onClose}
      >
        {(form, conflicts) => (
          <FormSections
            form={form}
            words={{ labels: { aboveMicros: words.above(stored.currency) }, hints: { aboveMicros: words.aboveHint } }}
            conflicts={conflicts}
            hasFocus
          />
        )}
      </StoredForm>
      {set.dialog}
    </Dialog>
  );
}
