import { buyerRoutes } from "@intermission/operator-api/buyers";
import { useNavigate } from "@tanstack/react-router";
import { RequestDialog } from "../forms/request-dialog.tsx";
import { useNotice } from "../ui/notices.tsx";
import { useConfirmedChange } from "../ui/use-confirmed-change.tsx";
import { useLanguage, useWords } from "../words/word-table.ts";
import { newBuyerForm, newBuyerValues, wordsOfBuyerForm } from "./buyer-forms.ts";
import { buyerWords } from "./words.ts";

export function AddBuyerDialog({ onClose }: { onClose: () => void }) {
  const words = useWords(buyerWords);
  const language = useLanguage();
  const navigate = useNavigate();
  const notice = useNotice();
  const add = useConfirmedChange(buyerRoutes.addBuyer);
  return (
    <RequestDialog
      title={words.add}
      submitText={words.create}
      definition={newBuyerForm}
      initial={newBuyerValues}
      schema={buyerRoutes.addBuyer.body}
      wordsOf={() => wordsOfBuyerForm(language)}
      request={add}
      onBody={(body) =>
        add.run({ body }, ({ buyerId, name }) => {
          onClose();
          notice({ text: words.added(name) });
          void navigate({ to: "/buyers/$buyerId", params: { buyerId } });
        })
      }
      onClose={onClose}
    />
  );
}
