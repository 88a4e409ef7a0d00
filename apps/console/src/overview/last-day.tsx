import { dayOf } from "@intermission/operator-api/days-in-zone";
import { zoneOf } from "@intermission/operator-api/report-address";
import { statisticsRoutes } from "@intermission/operator-api/statistics";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { answerOf } from "../operator/use-operator.ts";
import { changeOf } from "../reports/report-query.ts";
import { useMay, usePerson } from "../session/use-session.ts";
import { AnswerView } from "../ui/answer-view.tsx";
import { useFormats } from "../words/formats.ts";
import { noFillWords } from "../words/vocabulary-words.ts";
import { useLanguage, useWords } from "../words/word-table.ts";
import { AttentionItem } from "./attention-item.tsx";
import { overviewWords } from "./words.ts";

const DAY_MS = 86_400_000;

/** The days of the last 24 hours by hour: the report that their figures lead to. */
function reportOfLastDay({ from, to }: { from: Date; to: Date }) {
  const zone = zoneOf({});
  return { from: dayOf(zone, from), to: dayOf(zone, to), time: "hour" } as const;
}

/** The statistics of the last 24 hours, and of the 24 hours before; of publishers, of a bot (`botId`), and of advertisers, of what is theirs. */
export function useLastDay(botId: string | undefined) {
  const may = useMay();
  const { advertiserId } = usePerson();
  const own = { botId, advertiser: advertiserId ?? undefined };
  // One period while the screen is open, so that it is one query.
  const [to] = useState(() => new Date());
  const from = new Date(to.getTime() - DAY_MS);
  return useQuery({
    ...answerOf(statisticsRoutes.readStats, { query: { from, to, by: "day", compare: "previous", ...own } }),
    enabled: may("readStats"),
  });
}

type LastDayQuery = ReturnType<typeof useLastDay>;

export function LastDay({ query, botId }: { query: LastDayQuery; botId: string | undefined }) {
  const words = useWords(overviewWords);
  const { number, money, share, change, clock } = useFormats();
  const isAdvertiser = usePerson().role === "advertiser";
  return (
    <section aria-labelledby="last-day">
      <div className="list-head">
        <h2 id="last-day">{words.lastDay}</h2>
        {query.data?.countedUntil && (
          <span className="as-of">
            {words.counted(clock(query.data.countedUntil))}, {words.againstBefore}
          </span>
        )}
      </div>
      <AnswerView query={query} rows={1}>
        {({ total, comparison, currency, deliveries, ...period }) => {
          const before = comparison?.total;
          const rate = (value: number | null | undefined) =>
            value === null || value === undefined ? "–" : share(value);
          const countFact = (name: string, figure: "requests" | "rewards" | "clicks" | "conversions") => ({
            name,
            figure,
            value: number(total[figure]),
            more: changeOf(total[figure], before?.[figure]),
          });
          const moneyFact = (name: string, figure: "spendMicros" | "revenueMicros") => {
            const micros = total[figure];
            const value = micros === undefined ? "–" : money(micros, currency);
            return { name, figure, value, more: changeOf(micros, before?.[figure]) };
          };
          const facts = [
            // Unfilled requests and webhooks do not concern an advertiser.
            ...(isAdvertiser
              ? []
              : [
                  countFact(words.requests, "requests"),
                  { name: words.fillRate, figure: "fillRate", value: rate(total.fillRate), more: undefined } as const,
                ]),
            countFact(words.views, "rewards"),
            countFact(words.clicks, "clicks"),
            ...(isAdvertiser ? [countFact(words.conversions, "conversions")] : []),
            total.spendMicros === undefined
              ? moneyFact(words.revenue, "revenueMicros")
              : moneyFact(words.spend, "spendMicros"),
          ];
          const search = { ...reportOfLastDay(period), bot: botId };
          return (
            <dl className="panel facts">
              {facts.map(({ name, figure, value, more }) => (
                <div key={name}>
                  <dt>
                    <Link to="/reports" search={{ ...search, figure }} className="row-link">
                      {name}
                    </Link>
                  </dt>
                  <dd>
                    {value}
                    {more !== undefined && <small> {change(more)}</small>}
                  </dd>
                </div>
              ))}
              {!isAdvertiser && (
                <div>
                  <dt>{words.delivered}</dt>
                  <dd>{rate(deliveries?.successRate)}</dd>
                </div>
              )}
            </dl>
          );
        }}
      </AnswerView>
    </section>
  );
}

/** How many requests got no ad, and the commonest reason; leads to the explanation. */
export function NoFills({ query: { data } }: { query: LastDayQuery }) {
  const words = useWords(overviewWords);
  const may = useMay();
  // Counts of older versions may have other reasons.
  const reasons: Readonly<Record<string, string>> = noFillWords[useLanguage()];
  const { number, share } = useFormats();
  if (data === undefined) return null;
  const sorted = Object.entries(data.total.noFills).toSorted(([, a], [, b]) => b - a);
  const [first] = sorted;
  if (first === undefined) return null;
  const count = sorted.reduce((sum, [, one]) => sum + one, 0);
  const [reason, ofReason] = first;
  const text = words.noFills({ count, share: share(count / Math.max(1, data.total.requests)) });
  return (
    <AttentionItem
      look="calm"
      note={words.noFillReason({ reason: reasons[reason] ?? reason, count: number(ofReason) })}
    >
      {may("explainChoice") ? (
        <Link to="/explain" className="row-link">
          {text}
        </Link>
      ) : (
        text
      )}
    </AttentionItem>
  );
}
