import { signInMethodRoutes } from "@intermission/operator-api/sign-in-methods";
import { lazy, Suspense } from "react";
import { useAnswer } from "../operator/use-operator.ts";
import { AnswerView, Skeleton } from "../ui/answer-view.tsx";
import { Page } from "../ui/page.tsx";
import { useWords } from "../words/word-table.ts";
import { LinkedAccounts } from "./linked-accounts.tsx";
import { Passkeys } from "./passkeys.tsx";
import { Password } from "./password.tsx";
import { Sessions } from "./sessions.tsx";
import { accountWords } from "./words.ts";
import "./account.css";

/** Loaded apart: the screen is near what it may weigh. */
const OwnEmail = lazy(async () => ({ default: (await import("./own-email.tsx")).OwnEmail }));
const AlertSettings = lazy(async () => ({ default: (await import("./alert-settings.tsx")).AlertSettings }));

/** The own ways to sign in, and where one is signed in. */
export function AccountScreen() {
  const words = useWords(accountWords);
  const methods = useAnswer(signInMethodRoutes.listSignInMethods);
  return (
    <Page title={words.account}>
      <AnswerView query={methods} rows={5}>
        {({ hasPassword, recoveryCodes, passkeys, identities, providers }) => (
          <div className="account-parts">
            <Suspense fallback={<Skeleton rows={3} />}>
              <OwnEmail hasPassword={hasPassword} />
            </Suspense>
            <LinkedAccounts identities={identities} providers={providers} />
            <Passkeys passkeys={passkeys} />
            <Password hasPassword={hasPassword} recoveryCodes={recoveryCodes} />
            <Sessions />
            <Suspense fallback={<Skeleton rows={3} />}>
              <AlertSettings />
            </Suspense>
          </div>
        )}
      </AnswerView>
    </Page>
  );
}
