import { peopleRoutes } from "@intermission/operator-api/people";
import { useState } from "react";
import { Field } from "../ui/field.tsx";
import { FormDialog } from "../ui/form-dialog.tsx";
import { ShownOnceDialog } from "../ui/shown-once-dialog.tsx";
import { useConfirmedChange } from "../ui/use-confirmed-change.tsx";
import { useWords } from "../words/word-table.ts";
import { RoleFields, useReach } from "./role-fields.tsx";
import { peopleWords } from "./words.ts";

/** Invites a person with a role, and shows the link of the invitation. */
export function InviteDialog({ onClose }: { onClose: () => void }) {
  const words = useWords(peopleWords);
  const invite = useConfirmedChange(peopleRoutes.invitePerson);
  const [email, setEmail] = useState("");
  const reach = useReach({ role: "ad-ops", advertiserId: null, botIds: [] });
  const [link, setLink] = useState<string>();
  if (link !== undefined)
    return <ShownOnceDialog title={words.link} about={words.linkText(email)} value={link} onClose={onClose} />;
  const submit = () => invite.run({ body: { email, ...reach.body } }, (invited) => setLink(invited.link));
  return (
    <FormDialog
      title={words.invite}
      submitText={words.send}
      isBusy={invite.isPending}
      onSubmit={submit}
      onClose={onClose}
    >
      <Field label={words.email} fault={invite.faults.email}>
        {(control) => (
          <input type="email" {...control} value={email} onChange={(event) => setEmail(event.target.value)} />
        )}
      </Field>
      <RoleFields reach={reach} faults={invite.faults} />
    </FormDialog>
  );
}
