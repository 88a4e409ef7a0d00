import { accountRoutes } from "@intermission/operator-api/account";
import type { AnswerOf } from "@intermission/operator-api/route";
import type { signInMethodRoutes } from "@intermission/operator-api/sign-in-methods";
import { useState } from "react";
import { Button } from "../ui/button.tsx";
import { ShownOnceDialog } from "../ui/shown-once-dialog.tsx";
import { useConfirmedChange } from "../ui/use-confirmed-change.tsx";
import { useWords } from "../words/word-table.ts";
import { PasswordDialog } from "./password-dialog.tsx";
import { accountWords } from "./words.ts";

type Methods = AnswerOf<typeof signInMethodRoutes.listSignInMethods>;

/** The password, and the codes that replace the authenticator app once it is lost. */
export function Password({ hasPassword, recoveryCodes }: Pick<Methods, "hasPassword" | "recoveryCodes">) {
  const words = useWords(accountWords);
  const [isOpen, setOpen] = useState(false);
  const [codes, setCodes] = useState<string[]>();
  const make = useConfirmedChange(accountRoutes.createRecoveryCodes);
  return (
    <>
      <section>
        <h2>{words.password}</h2>
        <p className="secondary">{hasPassword ? words.hasPassword : words.noPassword}</p>
        {hasPassword && <Button onClick={() => setOpen(true)}>{words.changePassword}</Button>}
      </section>
      {hasPassword && (
        <section>
          <h2>{words.recoveryCodes}</h2>
          <p className="secondary">
            {words.recoveryCodesText} {words.recoveryCodesLeft(recoveryCodes)}
          </p>
          <Button isBusy={make.isPending} onClick={() => void make.run({}, (made) => setCodes(made.codes))}>
            {words.makeRecoveryCodes}
          </Button>
        </section>
      )}
      {isOpen && <PasswordDialog onClose={() => setOpen(false)} />}
      {codes && (
        <ShownOnceDialog
          title={words.recoveryCodes}
          about={words.recoveryCodesAbout}
          value={codes.join("\n")}
          onClose={() => setCodes(undefined)}
        />
      )}
    </>
  );
}
