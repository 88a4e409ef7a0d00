import { advertiserRoutes } from "@intermission/operator-api/advertisers";
import { FormSections } from "../forms/form-sections.tsx";
import { StoredForm } from "../forms/stored-form.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { useConfirmedChange } from "../ui/use-confirmed-change.tsx";
import { useLanguage, useWords } from "../words/word-table.ts";
import { advertiserNameForm } from "./advertiser-form-definitions.ts";
import { wordsOfAdvertiserForm } from "./form-words.ts";
import type { MoneyDialogProps } from "./top-up-dialog.tsx";
import { advertiserWords } from "./words.ts";

/** Changes the name; campaigns, the key of postbacks and the bots that block the advertiser stay. */
export function RenameDialog({ advertiser, onClose }: MoneyDialogProps) {
  const words = useWords(advertiserWords);
  const language = useLanguage();
  const rename = useConfirmedChange(advertiserRoutes.updateAdvertiser);
  const params = { advertiser: advertiser.advertiserId };
  return (
    <Dialog title={words.renameOf(advertiser.name)} onClose={onClose}>
      <p className="secondary">{words.renameText}</p>
      <StoredForm
        definition={advertiserNameForm}
        stored={advertiser}
        schema={advertiserRoutes.updateAdvertiser.body}
        isPending={rename.isPending}
        serverFaults={rename.faults}
        onSave={(body, { name }, onDone) =>
          rename.run({ params, body: { ...body, expected: { name } } }, ({ name: changed }) =>
            onDone({ ...advertiser, name: changed }),
          )
        }
        onClose={onClose}
      >
        {(form, conflicts) => (
          <FormSections form={form} words={wordsOfAdvertiserForm(language, undefined)} conflicts={conflicts} hasFocus />
        )}
      </StoredForm>
    </Dialog>
  );
}
