import { accountRoutes } from "@intermission/operator-api/account";
import { useState } from "react";
import { useAnswer } from "../operator/use-operator.ts";
import { useMay, usePerson } from "../session/use-session.ts";
import { AnswerView } from "../ui/answer-view.tsx";
import { Button } from "../ui/button.tsx";
import { useFormats } from "../words/formats.ts";
import { useWords } from "../words/word-table.ts";
import { EmailDialog } from "./email-dialog.tsx";
import { accountWords } from "./words.ts";

/** The own e-mail address, and how to change it: without a mail server, an owner does. */
export function OwnEmail({ hasPassword }: { hasPassword: boolean }) {
  const words = useWords(accountWords);
  const formats = useFormats();
  const may = useMay();
  const { personId, role } = usePerson();
  const own = useAnswer(accountRoutes.showOwnEmail);
  const [isOpen, setOpen] = useState(false);
  return (
    <section>
      <h2>{words.email}</h2>
      <AnswerView query={own} rows={2}>
        {({ email, canMail, requested }) => (
          <>
            <p className="own-email">{email}</p>
            <p className="secondary">{words.emailText}</p>
            {requested && (
              <p role="status">
                {words.emailWaiting({ email: requested.email, until: formats.dateTime(requested.expiresAt) })}
              </p>
            )}
            {!canMail && (
              <p className="secondary">{role === "owner" ? words.emailByOtherOwner(personId) : words.emailByOwner}</p>
            )}
            {canMail && may("requestEmailChange") && <Button onClick={() => setOpen(true)}>{words.changeEmail}</Button>}
          </>
        )}
      </AnswerView>
      {isOpen && <EmailDialog hasPassword={hasPassword} onClose={() => setOpen(false)} />}
    </section>
  );
}
