import { partyRoutes } from "@intermission/operator-api/parties";
import { FormSections } from "../forms/form-sections.tsx";
import { StoredForm } from "../forms/stored-form.tsx";
import { useAnswer } from "../operator/use-operator.ts";
import { AnswerView } from "../ui/answer-view.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { useConfirmedChange } from "../ui/use-confirmed-change.tsx";
import { useWords } from "../words/word-table.ts";
import { operatorForm } from "./party-forms.ts";
import { partyWords } from "./party-words.ts";

/** What statements and payouts say of the operator, and below which amount nothing is paid. */
export function OperatorDialog({ onClose }: { onClose: () => void }) {
  const words = useWords(partyWords);
  const party = useAnswer(partyRoutes.showOperatorParty);
  const set = useConfirmedChange(partyRoutes.setOperatorParty);
  const { legalName, address, taxId, iban, taxName, taxPercent } = words;
  const labels = { legalName, address, taxId, iban, taxName, taxPercent, leastPayoutMicros: words.leastPayout };
  const hints = { address: words.addressHint, iban: words.payerHint, leastPayoutMicros: words.leastPayoutHint };
  return (
    <Dialog title={words.operator} onClose={onClose}>
      <p className="secondary">{words.later}</p>
      <AnswerView query={party}>
        {(stored) => (
          <StoredForm
            definition={operatorForm}
            stored={stored}
            schema={partyRoutes.setOperatorParty.body}
            isPending={set.isPending}
            serverFaults={set.faults}
            onSave={(body, expected, onDone) => set.run({ body: { ...body, expected } }, onDone)}
            onClose={onClose}
          >
            {(form, conflicts) => (
              <FormSections
                form={form}
                words={{ labels, hints: { ...hints, taxPercent: words.taxPercentHint } }}
                conflicts={conflicts}
                hasFocus
              />
            )}
          </StoredForm>
        )}
      </AnswerView>
      {set.dialog}
    </Dialog>
  );
}
