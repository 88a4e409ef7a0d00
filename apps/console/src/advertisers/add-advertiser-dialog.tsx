import { advertiserRoutes } from "@intermission/operator-api/advertisers";
import { useNavigate } from "@tanstack/react-router";
import { RequestDialog } from "../forms/request-dialog.tsx";
import { useNotice } from "../ui/notices.tsx";
import { useConfirmedChange } from "../ui/use-confirmed-change.tsx";
import { useLanguage, useWords } from "../words/word-table.ts";
import { isAdvertiserField, newAdvertiserForm, newAdvertiserValues } from "./advertiser-form-definitions.ts";
import { wordsOfAdvertiserForm } from "./form-words.ts";
import { advertiserWords } from "./words.ts";

export function AddAdvertiserDialog({ onClose }: { onClose: () => void }) {
  const words = useWords(advertiserWords);
  const language = useLanguage();
  const navigate = useNavigate();
  const notice = useNotice();
  const add = useConfirmedChange(advertiserRoutes.addAdvertiser);
  return (
    <RequestDialog
      title={words.add}
      submitText={words.create}
      definition={newAdvertiserForm}
      initial={newAdvertiserValues}
      schema={advertiserRoutes.addAdvertiser.body}
      isShown={isAdvertiserField}
      wordsOf={({ billing }) => wordsOfAdvertiserForm(language, billing)}
      request={add}
      onBody={(body) =>
        add.run({ body }, ({ advertiserId, name }) => {
          onClose();
          notice({ text: words.added(name) });
          void navigate({ to: "/advertisers/$advertiserId", params: { advertiserId } });
        })
      }
      onClose={onClose}
    />
  );
}
