import { partyRoutes } from "@intermission/operator-api/parties";
import { useAnswer } from "../operator/use-operator.ts";
import { AnswerView } from "../ui/answer-view.tsx";
import { loadWords } from "../words/catalog.ts";
import { useWords } from "../words/word-table.ts";

const topUpWays = loadWords("topUpWays");

/** How an advertiser tops up: the operator's text, a payment link, and a contact. */
export function TopUpWays({
  advertiser: { advertiserId, name },
}: {
  advertiser: { advertiserId: string; name: string };
}) {
  const words = useWords(topUpWays);
  const ways = useAnswer(partyRoutes.showTopUpWays, { params: { advertiser: advertiserId } });
  return (
    <section className="panel stack" aria-labelledby="top-up-ways">
      <h2 id="top-up-ways">{words.title}</h2>
      <AnswerView query={ways} rows={1}>
        {({ topUpText, topUpUrl, contactEmail }) => (
          <>
            <p>{topUpText ?? (topUpUrl === null && contactEmail === null ? words.none : words.reference(name))}</p>
            <div className="row">
              {topUpUrl && (
                <a className="button button-primary" href={topUpUrl} target="_blank" rel="noreferrer">
                  {words.pay}
                </a>
              )}
              {contactEmail && (
                <a
                  className="button button-plain"
                  href={`mailto:${contactEmail}?subject=${encodeURIComponent(words.subject(name))}`}
                >
                  {words.ask}
                </a>
              )}
            </div>
          </>
        )}
      </AnswerView>
    </section>
  );
}
