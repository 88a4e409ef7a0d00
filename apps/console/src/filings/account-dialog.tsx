import { type OrdAccount, ordRoutes } from "@intermission/operator-api/ord";
import { typedValuesOf } from "../forms/form-definition.ts";
import type { FormWords } from "../forms/form-words.ts";
import { RequestDialog } from "../forms/request-dialog.tsx";
import { useNotice } from "../ui/notices.tsx";
import { useConfirmedChange } from "../ui/use-confirmed-change.tsx";
import { loadWords } from "../words/catalog.ts";
import type { Language } from "../words/languages.ts";
import { useWords } from "../words/word-table.ts";
import { type AccountField, accountForm } from "./account-form.ts";

const words = loadWords("filingAccount") satisfies Record<Language, FormWords<AccountField>>;

/** Sets the operator of ad data and its key, which is typed anew each time: it is never shown again. */
export function AccountDialog({ account: { url }, onClose }: { account: OrdAccount; onClose: () => void }) {
  const { title, save, saved, labels, hints } = useWords(words);
  const notice = useNotice();
  const set = useConfirmedChange(ordRoutes.setOrd);
  return (
    <RequestDialog
      title={title}
      submitText={save}
      definition={accountForm}
      initial={typedValuesOf(accountForm, { url: url ?? "" })}
      schema={ordRoutes.setOrd.body}
      wordsOf={() => ({ labels, hints })}
      request={set}
      onBody={(body) =>
        set.run({ body }, () => {
          onClose();
          notice({ text: saved });
        })
      }
      onClose={onClose}
    />
  );
}
