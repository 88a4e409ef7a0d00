import { peopleRoutes } from "@intermission/operator-api/people";
import type { Person } from "@intermission/operator-api/session";
import { FormSections } from "../forms/form-sections.tsx";
import { StoredForm } from "../forms/stored-form.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { useConfirmedChange } from "../ui/use-confirmed-change.tsx";
import { useLanguage, useWords } from "../words/word-table.ts";
import { AdvertiserField } from "./advertiser-field.tsx";
import { personFormWords } from "./form-words.ts";
import { isPersonField, roleForm } from "./person-form-definitions.ts";
import { peopleWords } from "./words.ts";

/** A person as a request names it. */
const asTyped = (person: Person) => ({ ...person, advertiser: person.advertiserId });

/** Changes a person's role, and whose objects the person sees. */
export function RoleDialog({ person, onClose }: { person: Person; onClose: () => void }) {
  const words = useWords(peopleWords);
  const language = useLanguage();
  const change = useConfirmedChange(peopleRoutes.changeRole);
  const { personId, email } = person;
  return (
    <Dialog title={words.roleOf(email)} onClose={onClose}>
      <p className="secondary">{words.roleText}</p>
      <StoredForm
        definition={roleForm}
        stored={asTyped(person)}
        schema={peopleRoutes.changeRole.body}
        isShown={isPersonField}
        isWhole
        isPending={change.isPending}
        serverFaults={change.faults}
        onSave={(body, { updatedAt }, onDone) =>
          change.run({ params: { personId }, query: { expectedUpdatedAt: updatedAt }, body }, (changed) =>
            onDone(asTyped(changed)),
          )
        }
        onClose={onClose}
      >
        {(form, conflicts) => (
          <FormSections
            form={form}
            words={personFormWords(language)}
            controls={{ advertiser: AdvertiserField }}
            conflicts={conflicts}
            hasFocus
          />
        )}
      </StoredForm>
    </Dialog>
  );
}
