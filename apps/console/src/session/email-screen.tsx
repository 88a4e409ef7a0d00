import { accountRoutes } from "@intermission/operator-api/account";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { CallError, callOperator } from "../operator/call-operator.ts";
import { Button } from "../ui/button.tsx";
import { useWords } from "../words/word-table.ts";
import { EntryCard } from "./entry-card.tsx";
import { useRefusalText } from "./refusal-text.ts";
import { sessionWords } from "./words.ts";

const UNDO = "undo-";

/**
 * `/console/email#…` confirms a new address, `#undo-…` keeps the former one. By a button: programs that check the links of mails
 * open them, too.
 */
export function EmailScreen() {
  const words = useWords(sessionWords);
  const queries = useQueryClient();
  const refusal = useRefusalText();
  const [fragment] = useState(() => location.hash.slice(1));
  const isUndo = fragment.startsWith(UNDO);
  const change = useMutation({
    mutationFn: () =>
      isUndo
        ? callOperator(accountRoutes.undoEmailChange, { body: { token: fragment.slice(UNDO.length) } })
        : callOperator(accountRoutes.confirmEmailChange, { body: { token: fragment } }),
    onSuccess: () => queries.invalidateQueries(),
  });
  const { data, error } = change;
  const isUnknown = error instanceof CallError && [400, 404].includes(error.status);
  return (
    <EntryCard title={words.emailChange}>
      {data === undefined ? (
        <>
          <p>{isUndo ? words.keepEmailText : words.confirmEmailText}</p>
          <p className="fault" role="alert">
            {error !== null && (isUnknown ? words.noEmailLink : refusal(error))}
          </p>
          {!isUnknown && (
            <Button look="primary" isBusy={change.isPending} onClick={() => change.mutate()}>
              {isUndo ? words.keepEmail : words.confirmEmail}
            </Button>
          )}
        </>
      ) : (
        <p role="status">{isUndo ? words.emailKept(data.email) : words.emailConfirmed(data.email)}</p>
      )}
      <Link to="/" className="link">
        {words.toConsole}
      </Link>
    </EntryCard>
  );
}
