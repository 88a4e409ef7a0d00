import { signInMethodRoutes } from "@intermission/operator-api/sign-in-methods";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { callOperator } from "../operator/call-operator.ts";
import { useAnswer } from "../operator/use-operator.ts";
import { Button } from "../ui/button.tsx";
import { useWords } from "../words/word-table.ts";
import { leaveForProvider } from "./openid-return.ts";
import { askForPasskey, hasPasskeys } from "./passkeys.ts";
import { useRefusalText } from "./refusal-text.ts";
import { startSession } from "./use-session.ts";
import { sessionWords } from "./words.ts";

/** Signing in without a password: by a provider, or by a passkey. With an invitation, which a passkey cannot accept, by a provider. */
export function OtherWays({ invitation }: { invitation?: string }) {
  const words = useWords(sessionWords);
  const providers = useAnswer(signInMethodRoutes.listSignInProviders).data?.providers ?? [];
  const queries = useQueryClient();
  const refusal = useRefusalText();
  const provider = useMutation({
    mutationFn: (providerId: (typeof providers)[number]["providerId"]) =>
      callOperator(signInMethodRoutes.startOpenIdSignIn, {
        body: { providerId, ...(invitation !== undefined && { invitation }) },
      }),
    onSuccess: ({ address }) => leaveForProvider(address, "sign-in"),
  });
  const passkey = useMutation({
    mutationFn: signInWithPasskey,
    onSuccess: (session) => session !== undefined && startSession(queries, session),
  });
  const isPasskeyOffered = invitation === undefined && hasPasskeys();
  if (providers.length === 0 && !isPasskeyOffered) return null;
  const error = provider.error ?? passkey.error;
  return (
    <div className="other-ways">
      {providers.map(({ providerId, name }) => (
        <Button
          key={providerId}
          isBusy={provider.isPending || provider.isSuccess}
          onClick={() => provider.mutate(providerId)}
        >
          {words.continueWith(name)}
        </Button>
      ))}
      {isPasskeyOffered && (
        <Button isBusy={passkey.isPending} onClick={() => passkey.mutate()}>
          {words.withPasskey}
        </Button>
      )}
      <p className="fault" role="alert">
        {error !== null && refusal(error)}
      </p>
      <p className="or secondary">{invitation === undefined ? words.orPassword : words.orNewPassword}</p>
    </div>
  );
}

/** Undefined: the person has closed the browser's window. */
async function signInWithPasskey() {
  const options = await callOperator(signInMethodRoutes.startPasskeySignIn, undefined);
  const credential = await askForPasskey(options);
  return credential && callOperator(signInMethodRoutes.signInWithPasskey, { body: { credential } });
}
