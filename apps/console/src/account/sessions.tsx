import { accountRoutes, type OwnSession } from "@intermission/operator-api/account";
import { useAnswer, useChange } from "../operator/use-operator.ts";
import { useRefusalText } from "../session/refusal-text.ts";
import { AnswerView } from "../ui/answer-view.tsx";
import { Button } from "../ui/button.tsx";
import { DataTable } from "../ui/data-table.tsx";
import { useNotice } from "../ui/notices.tsx";
import { useFormats } from "../words/formats.ts";
import { useWords } from "../words/word-table.ts";
import { accountWords } from "./words.ts";

/** Where the person is signed in. The session of this browser ends by signing out. */
export function Sessions() {
  const words = useWords(accountWords);
  const formats = useFormats();
  const notice = useNotice();
  const refusal = useRefusalText();
  const answer = useAnswer(accountRoutes.listOwnSessions);
  const end = useChange(accountRoutes.endOwnSession);
  const nameOf = ({ browser }: OwnSession) => browser || words.unknownBrowser;
  return (
    <section>
      <h2>{words.sessions}</h2>
      <p className="secondary">{words.sessionsText}</p>
      <AnswerView query={answer} rows={2}>
        {({ sessions }) => (
          <DataTable
            label={words.sessions}
            rows={sessions}
            keyOf={({ sessionId }) => sessionId}
            columns={[
              { title: words.browser, cell: nameOf },
              { title: words.signedIn, cell: ({ signedInAt }) => formats.ago(signedInAt) },
              {
                title: words.lastActive,
                cell: ({ isCurrent, lastUsedAt }) => (isCurrent ? words.thisBrowser : formats.ago(lastUsedAt)),
              },
              {
                title: "",
                cell: (session) =>
                  session.isCurrent ? null : (
                    <Button
                      look="quiet"
                      isBusy={end.isPending}
                      aria-label={words.endSessionOf({
                        browser: nameOf(session),
                        lastUsed: formats.ago(session.lastUsedAt),
                      })}
                      onClick={() =>
                        end.mutate(
                          { params: { sessionId: session.sessionId } },
                          {
                            onError: (error) => notice({ text: refusal(error), look: "failed" }),
                            onSuccess: () => notice({ text: words.sessionEnded }),
                          },
                        )
                      }
                    >
                      {words.endSession}
                    </Button>
                  ),
              },
            ]}
          />
        )}
      </AnswerView>
    </section>
  );
}
