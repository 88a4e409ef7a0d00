import { type Creative, creativeRoutes } from "@intermission/operator-api/creatives";
import { RequestDialog } from "../forms/request-dialog.tsx";
import type { ConfirmedChange } from "../ui/use-confirmed-change.tsx";
import { useLanguage, useWords } from "../words/word-table.ts";
import { emptyRefusal, refusalForm } from "./creative-form-definitions.ts";
import { creativeFormWords } from "./form-words.ts";
import { creativeWords } from "./words.ts";

interface RefuseDialogProps {
  creative: Creative;
  request: ConfirmedChange<typeof creativeRoutes.refuseCreative>;
  onRefuse: (reason: string) => void;
  onClose: () => void;
}

/** The reason of a refusal, which the advertiser reads. */
export function RefuseDialog({ creative, request, onRefuse, onClose }: RefuseDialogProps) {
  const { name, creativeId, revision } = creative;
  const words = useWords(creativeWords);
  const language = useLanguage();
  return (
    <RequestDialog
      title={words.refuseIt(name ?? creativeId)}
      submitText={words.refuse}
      definition={refusalForm}
      initial={emptyRefusal}
      schema={creativeRoutes.refuseCreative.body}
      fixed={{ revision }}
      wordsOf={() => creativeFormWords(language)}
      request={request}
      onBody={({ reason }) => onRefuse(reason)}
      onClose={onClose}
    />
  );
}
