import { type Passkey, signInMethodRoutes } from "@intermission/operator-api/sign-in-methods";
import { useState } from "react";
import { useChange } from "../operator/use-operator.ts";
import { hasPasskeys } from "../session/passkeys.ts";
import { useRefusalText } from "../session/refusal-text.ts";
import { Button } from "../ui/button.tsx";
import { DataTable } from "../ui/data-table.tsx";
import { useNotice } from "../ui/notices.tsx";
import { useFormats } from "../words/formats.ts";
import { useWords } from "../words/word-table.ts";
import { PasskeyDialog } from "./passkey-dialog.tsx";
import { accountWords } from "./words.ts";

/** Passkeys of the person: named, so that one of a lost device can be told and removed. */
export function Passkeys({ passkeys }: { passkeys: Passkey[] }) {
  const words = useWords(accountWords);
  const formats = useFormats();
  const notice = useNotice();
  const refusal = useRefusalText();
  const remove = useChange(signInMethodRoutes.removePasskey);
  const [open, setOpen] = useState<"new" | Passkey>();
  return (
    <section>
      <h2>{words.passkeys}</h2>
      <p className="secondary">{words.passkeysText}</p>
      {passkeys.length > 0 && (
        <DataTable
          label={words.passkeys}
          rows={passkeys}
          keyOf={({ passkeyId }) => passkeyId}
          columns={[
            { title: words.name, cell: ({ name }) => name },
            { title: words.added, cell: ({ createdAt }) => formats.date(createdAt) },
            {
              title: words.lastUsed,
              cell: ({ lastUsedAt }) => (lastUsedAt ? formats.ago(lastUsedAt) : words.neverUsed),
            },
            {
              title: "",
              cell: (passkey) => (
                <span className="row">
                  <Button look="quiet" aria-label={words.renameOf(passkey.name)} onClick={() => setOpen(passkey)}>
                    {words.rename}
                  </Button>
                  <Button
                    look="quiet"
                    isBusy={remove.isPending}
                    aria-label={words.removeOf(passkey.name)}
                    onClick={() =>
                      remove.mutate(
                        { params: { passkeyId: passkey.passkeyId } },
                        {
                          onError: (error) => notice({ text: refusal(error), look: "failed" }),
                          onSuccess: () => notice({ text: words.removed(passkey.name) }),
                        },
                      )
                    }
                  >
                    {words.remove}
                  </Button>
                </span>
              ),
            },
          ]}
        />
      )}
      {hasPasskeys() ? (
        <Button onClick={() => setOpen("new")}>{words.addPasskey}</Button>
      ) : (
        <p className="secondary">{words.noPasskeysHere}</p>
      )}
      {open !== undefined && (
        <PasskeyDialog {...(open !== "new" && { passkey: open })} onClose={() => setOpen(undefined)} />
      )}
    </section>
  );
}
