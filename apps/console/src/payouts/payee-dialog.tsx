import { partyRoutes } from "@intermission/operator-api/parties";
import { FormSections } from "../forms/form-sections.tsx";
import { StoredForm } from "../forms/stored-form.tsx";
import { useAnswer } from "../operator/use-operator.ts";
import { AnswerView } from "../ui/answer-view.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { useConfirmedChange } from "../ui/use-confirmed-change.tsx";
import { languageNames } from "../words/languages.ts";
import { useWords } from "../words/word-table.ts";
import { payeeForm } from "./party-forms.ts";
import { partyWords } from "./party-words.ts";

/** To whom the payouts of a bot go. */
export function PayeeDialog({ botId, name, onClose }: { botId: string; name: string; onClose: () => void }) {
  const words = useWords(partyWords);
  const params = { botId };
  const payee = useAnswer(partyRoutes.showPayee, { params });
  const set = useConfirmedChange(partyRoutes.setPayee);
  const { legalName, iban, address, taxId, language } = words;
  const labels = { legalName, iban, address, taxId, language, leastPayoutMicros: words.leastPayout };
  const hints = { legalName: words.holder, address: words.addressHint, leastPayoutMicros: words.ownLeastPayout };
  return (
    <Dialog title={words.payeeOf(name)} onClose={onClose}>
      <p className="secondary">{words.later}</p>
      <AnswerView query={payee}>
        {(stored) => (
          <StoredForm
            definition={payeeForm}
            stored={stored}
            schema={partyRoutes.setPayee.body}
            isPending={set.isPending}
            serverFaults={set.faults}
            onSave={(body, expected, onDone) => set.run({ params, body: { ...body, expected } }, onDone)}
            onClose={onClose}
          >
            {(form, conflicts) => (
              <FormSections
                form={form}
                words={{ labels, hints, options: { language: languageNames } }}
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
