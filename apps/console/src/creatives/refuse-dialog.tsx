import type { Creative } from "@intermission/operator-api/creatives";
import { useState } from "react";
import { Field } from "../ui/field.tsx";
import { FormDialog } from "../ui/form-dialog.tsx";
import { useWords } from "../words/word-table.ts";
import { creativeWords } from "./words.ts";

interface RefuseDialogProps {
  creative: Creative;
  isBusy: boolean;
  onRefuse: (reason: string) => void;
  onClose: () => void;
}

/** The reason of a refusal, which the advertiser reads. */
export function RefuseDialog({ creative: { name, creativeId }, isBusy, onRefuse, onClose }: RefuseDialogProps) {
  const words = useWords(creativeWords);
  const [reason, setReason] = useState("");
  const [isMissing, setMissing] = useState(false);
  const submit = () => {
    setMissing(reason.trim() === "");
    if (reason.trim() !== "") onRefuse(reason);
  };
  return (
    <FormDialog
      title={words.refuseIt(name ?? creativeId)}
      submitText={words.refuse}
      isBusy={isBusy}
      onSubmit={submit}
      onClose={onClose}
    >
      <Field label={words.reason} hint={words.reasonHint} fault={isMissing ? words.reasonNeeded : undefined}>
        {(control) => (
          <input {...control} maxLength={500} value={reason} onChange={(event) => setReason(event.target.value)} />
        )}
      </Field>
    </FormDialog>
  );
}
