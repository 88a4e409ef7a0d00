import { tokenRoutes } from "@intermission/operator-api/bot-tokens";
import type { Bot, TokenEntry } from "@intermission/operator-api/bots";
import { useState } from "react";
import { useChange } from "../operator/use-operator.ts";
import { useFailedNotice } from "../ui/answer-view.tsx";
import { Field } from "../ui/field.tsx";
import { FormDialog } from "../ui/form-dialog.tsx";
import { useNotice } from "../ui/notices.tsx";
import { useWords } from "../words/word-table.ts";
import { UseOfOld } from "./token-use.tsx";
import { tokensWords } from "./tokens-words.ts";

interface RevokeDialogProps {
  bot: Bot;
  token: TokenEntry;
  onClose: () => void;
}

/** Revokes a token once the name of its bot is typed: it has no inverse. */
export function RevokeDialog({ bot: { botId, name }, token, onClose }: RevokeDialogProps) {
  const { tokenId, state } = token;
  const words = useWords(tokensWords);
  const notice = useNotice();
  const onFailed = useFailedNotice();
  const revoke = useChange(tokenRoutes.revokeToken);
  const [typed, setTyped] = useState("");
  const [isRefused, setRefused] = useState(false);
  const onRevoke = () => {
    if (typed.trim() !== name) {
      setRefused(true);
      return;
    }
    revoke.mutate(
      { params: { botId, tokenId } },
      {
        onError: onFailed,
        onSuccess: ({ isLast }) => {
          notice({ text: isLast ? words.revokedLast(tokenId) : words.revokedNow(tokenId) });
          onClose();
        },
      },
    );
  };
  return (
    <FormDialog
      title={words.revokeOf(tokenId)}
      submitText={words.revoke}
      isBusy={revoke.isPending}
      onSubmit={onRevoke}
      onClose={onClose}
    >
      <p>{words.revokeText[state]}</p>
      <UseOfOld token={token} which="this" />
      <p>{words.noInverse(name)}</p>
      <Field label={words.botName} fault={isRefused ? words.otherName(name) : undefined}>
        {(control) => (
          <input
            {...control}
            autoComplete="off"
            value={typed}
            onChange={(event) => {
              setTyped(event.target.value);
              setRefused(false);
            }}
          />
        )}
      </Field>
    </FormDialog>
  );
}
