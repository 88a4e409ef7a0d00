import { advertiserRoutes } from "@intermission/operator-api/advertisers";
import { useState } from "react";
import { FormDialog } from "../ui/form-dialog.tsx";
import { ShownOnceDialog } from "../ui/shown-once-dialog.tsx";
import { useConfirmedChange } from "../ui/use-confirmed-change.tsx";
import { useWords } from "../words/word-table.ts";
import type { MoneyDialogProps } from "./top-up-dialog.tsx";
import { advertiserWords } from "./words.ts";

/** Makes a key for an advertiser's postbacks, which is shown once; the one before is void, so it asks. */
export function PostbackKeyDialog({ advertiser: { advertiserId, name }, onClose }: MoneyDialogProps) {
  const words = useWords(advertiserWords);
  // The answer is a secret, which is kept by what shows it, and by nothing else.
  const issue = useConfirmedChange(advertiserRoutes.issuePostbackKey, undefined, { gcTime: 0 });
  const [key, setKey] = useState<string>();
  if (key !== undefined)
    return (
      <ShownOnceDialog title={words.postbackKeyOf(name)} about={words.keyShownOnce} value={key} onClose={onClose}>
        <p>{words.postbackAddress}</p>
        <code>{`${location.origin}/postback/v1/conversions?click_id={click_id}&key=${key}`}</code>
      </ShownOnceDialog>
    );
  return (
    <FormDialog
      title={words.postbackKeyOf(name)}
      submitText={words.makeKey}
      isBusy={issue.isPending}
      onSubmit={() => issue.run({ params: { advertiser: advertiserId } }, (issued) => setKey(issued.key))}
      onClose={onClose}
    >
      <p>{words.keyText}</p>
      <p>{words.keyVoids}</p>
    </FormDialog>
  );
}
