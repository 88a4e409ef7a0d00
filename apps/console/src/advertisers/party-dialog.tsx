import { partyRoutes } from "@intermission/operator-api/parties";
import { FormSections } from "../forms/form-sections.tsx";
import { StoredForm } from "../forms/stored-form.tsx";
import { useAnswer } from "../operator/use-operator.ts";
import { AnswerView } from "../ui/answer-view.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { useConfirmedChange } from "../ui/use-confirmed-change.tsx";
import { languageNames } from "../words/languages.ts";
import { useWords } from "../words/word-table.ts";
import { advertiserPartyForm } from "./party-form-definition.ts";
import { partyWords } from "./party-words.ts";
import type { MoneyDialogProps } from "./top-up-dialog.tsx";

/** What later statements of an advertiser say of it. */
export function PartyDialog({ advertiser, onClose }: MoneyDialogProps) {
  const words = useWords(partyWords);
  const params = { advertiser: advertiser.advertiserId };
  const party = useAnswer(partyRoutes.showAdvertiserParty, { params });
  const set = useConfirmedChange(partyRoutes.setAdvertiserParty);
  const { legalName, address, taxId, language, taxNote } = words;
  const labels = { legalName, address, taxId, language, taxNote };
  const hints = { legalName: words.legalNameHint, address: words.addressHint, taxNote: words.taxNoteHint };
  return (
    <Dialog title={words.partyOf(advertiser.name)} onClose={onClose}>
      <p className="secondary">{words.later}</p>
      <AnswerView query={party}>
        {(stored) => (
          <StoredForm
            definition={advertiserPartyForm}
            stored={stored}
            schema={partyRoutes.setAdvertiserParty.body}
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
