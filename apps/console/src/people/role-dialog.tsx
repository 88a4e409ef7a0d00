import { type Person, peopleRoutes } from "@intermission/operator-api/people";
import { FormDialog } from "../ui/form-dialog.tsx";
import { useNotice } from "../ui/notices.tsx";
import { useConfirmedChange } from "../ui/use-confirmed-change.tsx";
import { uiWords } from "../ui/words.ts";
import { useWords } from "../words/word-table.ts";
import { RoleFields, useReach } from "./role-fields.tsx";
import { peopleWords } from "./words.ts";

/** Changes a person's role, and whose objects the person sees. */
export function RoleDialog({ person, onClose }: { person: Person; onClose: () => void }) {
  const words = useWords(peopleWords);
  const { save, saved } = useWords(uiWords);
  const notice = useNotice();
  const change = useConfirmedChange(peopleRoutes.changeRole);
  const reach = useReach(person);
  const { personId, email, updatedAt } = person;
  const query = { expectedUpdatedAt: updatedAt };
  const submit = () =>
    change.run({ params: { personId }, query, body: reach.body }, () => {
      onClose();
      notice({ text: saved });
    });
  return (
    <FormDialog
      title={words.roleOf(email)}
      submitText={save}
      isBusy={change.isPending}
      onSubmit={submit}
      onClose={onClose}
    >
      <p className="secondary">{words.roleText}</p>
      <RoleFields reach={reach} faults={change.faults} />
    </FormDialog>
  );
}
