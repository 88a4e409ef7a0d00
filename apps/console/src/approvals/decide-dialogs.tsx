import { type MoneyRequest, moneyRequestRoutes } from "@intermission/operator-api/money-requests";
import { typedValuesOf } from "../forms/form-definition.ts";
import { RequestDialog } from "../forms/request-dialog.tsx";
import { FormDialog } from "../ui/form-dialog.tsx";
import { useNotice } from "../ui/notices.tsx";
import { useConfirmedChange } from "../ui/use-confirmed-change.tsx";
import { useWords } from "../words/word-table.ts";
import { refusalForm } from "./forms.ts";
import { RequestValues, useRequestTitle } from "./request-values.tsx";
import { approvalWords } from "./words.ts";

interface DecideDialogProps {
  request: MoneyRequest;
  onClose: () => void;
}

/** Asks before money is recorded, with all of its values: that has no inverse. */
export function ApproveDialog({ request, onClose }: DecideDialogProps) {
  const words = useWords(approvalWords);
  const titleOf = useRequestTitle();
  const notice = useNotice();
  const approval = useConfirmedChange(moneyRequestRoutes.approveMoneyRequest);
  const { requestId, requestedBy, secondedBy } = request;
  return (
    <FormDialog
      title={titleOf(request)}
      submitText={words.approve}
      isBusy={approval.isPending}
      onSubmit={() =>
        void approval.run({ params: { requestId } }, ({ state }) => {
          onClose();
          notice({ text: state === "approved" ? words.approved : words.seconded });
        })
      }
      onClose={onClose}
    >
      <RequestValues request={request} />
      <p>{requestedBy === null && secondedBy === null ? words.secondText : words.approveText}</p>
    </FormDialog>
  );
}

/** Refuses a request, or withdraws an own one. */
export function RefuseDialog({ request, isOwn, onClose }: DecideDialogProps & { isOwn: boolean }) {
  const words = useWords(approvalWords);
  const titleOf = useRequestTitle();
  const notice = useNotice();
  const refusal = useConfirmedChange(moneyRequestRoutes.refuseMoneyRequest);
  const { requestId } = request;
  return (
    <RequestDialog
      title={titleOf(request)}
      submitText={isOwn ? words.withdraw : words.refuse}
      definition={refusalForm}
      initial={typedValuesOf(refusalForm, {})}
      schema={moneyRequestRoutes.refuseMoneyRequest.body}
      wordsOf={() => ({ labels: { reason: words.reason } })}
      request={refusal}
      onBody={(body) =>
        refusal.run({ params: { requestId }, body }, ({ state }) => {
          onClose();
          notice({ text: words.decided[state === "withdrawn" ? "withdrawn" : "refused"] });
        })
      }
      onClose={onClose}
    />
  );
}
