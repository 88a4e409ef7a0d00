import { peopleRoutes } from "@intermission/operator-api/people";
import { useState } from "react";
import { RequestDialog } from "../forms/request-dialog.tsx";
import { ShownOnceDialog } from "../ui/shown-once-dialog.tsx";
import { useConfirmedChange } from "../ui/use-confirmed-change.tsx";
import { useLanguage, useWords } from "../words/word-table.ts";
import { AdvertiserField } from "./advertiser-field.tsx";
import { personFormWords } from "./form-words.ts";
import { invitationForm, isPersonField, newPersonValues } from "./person-form-definitions.ts";
import { peopleWords } from "./words.ts";

/** Invites a person with a role, and shows the link of the invitation. */
export function InviteDialog({ onClose }: { onClose: () => void }) {
  const words = useWords(peopleWords);
  const language = useLanguage();
  const invite = useConfirmedChange(peopleRoutes.invitePerson);
  const [invited, setInvited] = useState<{ email: string; link: string; isMailed: boolean }>();
  if (invited !== undefined) {
    const { email, link, isMailed } = invited;
    const about = isMailed ? words.linkMailed(email) : words.linkText(email);
    return <ShownOnceDialog title={words.link} about={about} value={link} onClose={onClose} />;
  }
  return (
    <RequestDialog
      title={words.invite}
      submitText={words.send}
      definition={invitationForm}
      initial={newPersonValues}
      schema={peopleRoutes.invitePerson.body}
      isShown={isPersonField}
      wordsOf={() => personFormWords(language)}
      controls={{ advertiser: AdvertiserField }}
      request={invite}
      onBody={(body) => invite.run({ body }, ({ person, ...made }) => setInvited({ ...made, email: person.email }))}
      onClose={onClose}
    />
  );
}
