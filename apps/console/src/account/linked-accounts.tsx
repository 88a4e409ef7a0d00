import type { AnswerOf } from "@intermission/operator-api/route";
import { signInMethodRoutes } from "@intermission/operator-api/sign-in-methods";
import { useMutation } from "@tanstack/react-query";
import { callOperator } from "../operator/call-operator.ts";
import { useChange } from "../operator/use-operator.ts";
import { leaveForProvider } from "../session/openid-return.ts";
import { useRefusalText } from "../session/refusal-text.ts";
import { Button } from "../ui/button.tsx";
import { DataTable } from "../ui/data-table.tsx";
import { useNotice } from "../ui/notices.tsx";
import { useFormats } from "../words/formats.ts";
import { useWords } from "../words/word-table.ts";
import { accountWords } from "./words.ts";

type Methods = AnswerOf<typeof signInMethodRoutes.listSignInMethods>;

/** Accounts at providers that sign the person in. */
export function LinkedAccounts({ identities, providers }: Pick<Methods, "identities" | "providers">) {
  const words = useWords(accountWords);
  const formats = useFormats();
  const notice = useNotice();
  const refusal = useRefusalText();
  const onError = (error: Error) => notice({ text: refusal(error), look: "failed" });
  const unlink = useChange(signInMethodRoutes.unlinkIdentity);
  const link = useMutation({
    mutationFn: (providerId: Methods["providers"][number]["providerId"]) =>
      callOperator(signInMethodRoutes.startLinkingIdentity, { body: { providerId } }),
    onSuccess: ({ address }) => leaveForProvider(address, "link"),
    onError,
  });
  if (providers.length === 0 && identities.length === 0) return null;
  return (
    <section>
      <h2>{words.linkedAccounts}</h2>
      <p className="secondary">{words.linkedAccountsText}</p>
      {identities.length > 0 && (
        <DataTable
          label={words.linkedAccounts}
          rows={identities}
          keyOf={({ identityId }) => identityId}
          columns={[
            { title: words.name, cell: ({ label, provider }) => `${label} · ${provider}` },
            {
              title: words.lastUsed,
              cell: ({ lastUsedAt }) => (lastUsedAt ? formats.ago(lastUsedAt) : words.neverUsed),
            },
            {
              title: "",
              cell: ({ identityId, label }) => (
                <Button
                  look="quiet"
                  isBusy={unlink.isPending}
                  aria-label={words.unlinkOf(label)}
                  onClick={() =>
                    unlink.mutate(
                      { params: { identityId } },
                      { onError, onSuccess: () => notice({ text: words.unlinked(label) }) },
                    )
                  }
                >
                  {words.unlink}
                </Button>
              ),
            },
          ]}
        />
      )}
      {providers.map(({ providerId, name }) => (
        <Button key={providerId} isBusy={link.isPending || link.isSuccess} onClick={() => link.mutate(providerId)}>
          {words.linkWith(name)}
        </Button>
      ))}
    </section>
  );
}
