import { advertiserRoutes } from "@intermission/operator-api/advertisers";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { Field } from "../ui/field.tsx";
import { FormDialog } from "../ui/form-dialog.tsx";
import { useNotice } from "../ui/notices.tsx";
import { useConfirmedChange } from "../ui/use-confirmed-change.tsx";
import { useWords } from "../words/word-table.ts";
import { advertiserWords } from "./words.ts";

export function AddAdvertiserDialog({ onClose }: { onClose: () => void }) {
  const words = useWords(advertiserWords);
  const navigate = useNavigate();
  const notice = useNotice();
  const add = useConfirmedChange(advertiserRoutes.addAdvertiser);
  const [name, setName] = useState("");
  const submit = () =>
    add.run({ body: { name } }, ({ advertiserId, name: added }) => {
      onClose();
      notice({ text: words.added(added) });
      void navigate({ to: "/advertisers/$advertiserId", params: { advertiserId } });
    });
  return (
    <FormDialog title={words.add} submitText={words.create} isBusy={add.isPending} onSubmit={submit} onClose={onClose}>
      <Field label={words.name} fault={add.faults.name}>
        {(control) => <input {...control} value={name} onChange={(event) => setName(event.target.value)} />}
      </Field>
      {add.dialog}
    </FormDialog>
  );
}
