import { moneyRoutes } from "@intermission/operator-api/money";
import { FormSections } from "../forms/form-sections.tsx";
import { StoredForm } from "../forms/stored-form.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { useConfirmedChange } from "../ui/use-confirmed-change.tsx";
import { useLanguage, useWords } from "../words/word-table.ts";
import { isAdvertiserField, termsForm } from "./advertiser-form-definitions.ts";
import { wordsOfAdvertiserForm } from "./form-words.ts";
import type { MoneyDialogProps } from "./top-up-dialog.tsx";
import { advertiserWords } from "./words.ts";

/** Whether an advertiser pays before or after, and up to which limit. */
export function TermsDialog({ advertiser, onClose }: MoneyDialogProps) {
  const { termsOf } = useWords(advertiserWords);
  const language = useLanguage();
  const set = useConfirmedChange(moneyRoutes.setTerms, undefined, { onWithheld: onClose });
  const params = { advertiser: advertiser.advertiserId };
  return (
    <Dialog title={termsOf(advertiser.name)} onClose={onClose}>
      <StoredForm
        definition={termsForm}
        stored={advertiser}
        schema={moneyRoutes.setTerms.body}
        isShown={isAdvertiserField}
        isWhole
        isPending={set.isPending}
        serverFaults={set.faults}
        onSave={(body, { billing, creditLimitMicros }, onDone) =>
          set.run({ params, body: { ...body, expected: { billing, creditLimitMicros } } }, onDone)
        }
        onClose={onClose}
      >
        {(form, conflicts) => (
          <FormSections
            form={form}
            words={wordsOfAdvertiserForm(language, form.values.billing)}
            conflicts={conflicts}
            hasFocus
          />
        )}
      </StoredForm>
      {set.dialog}
    </Dialog>
  );
}
