import { type BuyerExchange, buyerRoutes } from "@intermission/operator-api/buyers";
import { useAnswer } from "../operator/use-operator.ts";
import { AnswerView } from "../ui/answer-view.tsx";
import { useFormats } from "../words/formats.ts";
import { useLanguage, useWords } from "../words/word-table.ts";
import { bidOutcomeWords, buyerWords, consentOutcomeWords } from "./words.ts";
import "../creatives/creatives.css";

/** The latest requests to a buyer with their answers, and why each bid was refused. */
export function BuyerExchanges({ buyerId, currency }: { buyerId: string; currency: string }) {
  const words = useWords(buyerWords);
  const exchanges = useAnswer(buyerRoutes.readBids, { params: { buyerId } });
  return (
    <section className="panel" aria-labelledby="exchanges">
      <h2 id="exchanges">{words.exchanges}</h2>
      <AnswerView query={exchanges}>
        {({ exchanges: rows }) =>
          rows.length === 0 ? (
            <p className="secondary">{words.noExchanges}</p>
          ) : (
            <>
              <p className="hint">{words.exchangesHint}</p>
              <ol className="chain">
                {rows.map((exchange) => (
                  <li key={exchange.exchangeId}>
                    <Exchange exchange={exchange} currency={currency} />
                  </li>
                ))}
              </ol>
            </>
          )
        }
      </AnswerView>
    </section>
  );
}

function Exchange({ exchange, currency }: { exchange: BuyerExchange; currency: string }) {
  const words = useWords(buyerWords);
  const language = useLanguage();
  const outcomes = bidOutcomeWords[language];
  const { dateTime, exactMoney, milliseconds } = useFormats();
  const { at, outcome, nonBid, reason, detail, bids, isTest, tookMs, request, answer, consent } = exchange;
  const isGood = outcome === "won" || outcome === "lost" || outcome === "accepted";
  const codes = [
    nonBid !== null && words.nonBid(nonBid),
    reason !== null && words.reason(reason),
    milliseconds(tookMs),
    isTest && words.test,
  ];
  return (
    <>
      <p>
        <span className={`pill ${isGood ? "pill-good" : outcome === "no-bid" ? "" : "pill-bad"}`}>{outcome}</span>{" "}
        {outcomes[outcome]} <small>{codes.filter((code) => code !== false).join(", ")}</small>
      </p>
      <p>
        <time dateTime={at.toISOString()}>{dateTime(at)}</time>
        {detail !== null && ` ${detail}`}
        {consent !== null && <small> {consentOutcomeWords[language][consent]}</small>}
      </p>
      {bids.length > 0 && (
        <ul>
          {bids.map((bid, index) => (
            // Ids of bids need not differ, and the list never changes.
            <li key={index}>
              {words.bid([bid.bidId, bid.seat, bid.creativeId, ...bid.domains].filter(Boolean).join(" / "))}
              {": "}
              {bid.cpmMicros === null ? words.noPrice : words.price(exactMoney(bid.cpmMicros, currency))}
              {": "}
              <span className={bid.outcome === "won" || bid.outcome === "lost" ? undefined : "fault"}>
                {outcomes[bid.outcome]}
              </span>
            </li>
          ))}
        </ul>
      )}
      <details>
        <summary>{words.request}</summary>
        <pre dir="ltr">{request}</pre>
      </details>
      <details>
        <summary>{words.answer}</summary>
        {answer === null ? <p>{words.noAnswer}</p> : <pre dir="ltr">{answer}</pre>}
      </details>
    </>
  );
}
