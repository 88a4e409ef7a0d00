import { advertiserRoutes } from "@intermission/operator-api/advertisers";
import { usualTerms } from "@intermission/operator-api/terms";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { Field } from "../ui/field.tsx";
import { FormDialog } from "../ui/form-dialog.tsx";
import { useNotice } from "../ui/notices.tsx";
import { useConfirmedChange } from "../ui/use-confirmed-change.tsx";
import { useWords } from "../words/word-table.ts";
import { TermsFields, useTerms } from "./terms-fields.tsx";
import { advertiserWords } from "./words.ts";

export function AddAdvertiserDialog({ currency, onClose }: { currency: string; onClose: () => void }) {
  const words = useWords(advertiserWords);
  const navigate = useNavigate();
  const notice = useNotice();
  const add = useConfirmedChange(advertiserRoutes.addAdvertiser);
  const [name, setName] = useState("");
  const terms = useTerms(usualTerms);
  const submit = () => {
    const chosen = terms.read();
    if (chosen === undefined) return;
    void add.run({ body: { name, ...chosen } }, ({ advertiserId, name: added }) => {
      onClose();
      notice({ text: words.added(added) });
      void navigate({ to: "/advertisers/$advertiserId", params: { advertiserId } });
    });
  };
  return (
    <FormDialog title={words.add} submitText={words.create} isBusy={add.isPending} onSubmit={submit} onClose={onClose}>
      <Field label={words.name} fault={add.faults.name}>
        {(control) => <input {...control} value={name} onChange={(event) => setName(event.target.value)} />}
      </Field>
      <TermsFields terms={terms} currency={currency} faults={add.faults} />
      {add.dialog}
    </FormDialog>
  );
}
