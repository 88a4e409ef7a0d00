import { creativeRoutes } from "@intermission/operator-api/creatives";
import { useNavigate } from "@tanstack/react-router";
import { RequestDialog } from "../forms/request-dialog.tsx";
import { useConfirmedChange } from "../ui/use-confirmed-change.tsx";
import { useLanguage, useWords } from "../words/word-table.ts";
import { emptyAddress, videoAddressForm } from "./creative-form-definitions.ts";
import { creativeFormWords } from "./form-words.ts";
import { creativeWords } from "./words.ts";

/** Adds a video that the server fetches; then its page opens, with the player. */
export function AddressDialog({ onClose }: { onClose: () => void }) {
  const words = useWords(creativeWords);
  const language = useLanguage();
  const navigate = useNavigate();
  const add = useConfirmedChange(creativeRoutes.addVideoByAddress);
  return (
    <RequestDialog
      title={words.addByAddress}
      submitText={words.add}
      definition={videoAddressForm}
      initial={emptyAddress}
      schema={creativeRoutes.addVideoByAddress.body}
      wordsOf={() => creativeFormWords(language)}
      request={add}
      onBody={(body) =>
        add.run({ body }, ({ creativeId }) => {
          onClose();
          void navigate({ to: "/creatives/$creativeId", params: { creativeId } });
        })
      }
      onClose={onClose}
    >
      <p className="secondary">{words.byAddressText}</p>
      {add.isPending && <p role="status">{words.fetching}</p>}
    </RequestDialog>
  );
}
