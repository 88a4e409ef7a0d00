import { peopleRoutes } from "@intermission/operator-api/people";
import type { Person } from "@intermission/operator-api/session";
import { FormSections } from "../forms/form-sections.tsx";
import { StoredForm } from "../forms/stored-form.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { useConfirmedChange } from "../ui/use-confirmed-change.tsx";
import { useLanguage, useWords } from "../words/word-table.ts";
import { personFormWords } from "./form-words.ts";
import { emailForm } from "./person-form-definitions.ts";
import { peopleWords } from "./words.ts";

/** An owner changes another person's e-mail address, as after a mistyped invitation or where no mail is sent. */
export function EmailDialog({ person, onClose }: { person: Person; onClose: () => void }) {
  const words = useWords(peopleWords);
  const language = useLanguage();
  const change = useConfirmedChange(peopleRoutes.changeEmail);
  const { personId, email } = person;
  return (
    <Dialog title={words.changeEmailOf(email)} onClose={onClose}>
      <p className="secondary">{words.changeEmailText}</p>
      <StoredForm
        definition={emailForm}
        stored={person}
        schema={peopleRoutes.changeEmail.body}
        isWhole
        isPending={change.isPending}
        serverFaults={change.faults}
        onSave={(body, { updatedAt }, onDone) =>
          change.run({ params: { personId }, query: { expectedUpdatedAt: updatedAt }, body }, onDone)
        }
        onClose={onClose}
      >
        {(form, conflicts) => (
          <FormSections form={form} words={personFormWords(language)} controls={{}} conflicts={conflicts} hasFocus />
        )}
      </StoredForm>
    </Dialog>
  );
}
