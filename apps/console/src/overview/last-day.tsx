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

export function LastDay({ query }: { query: LastDayQuery }) {
  const words = useWords(overviewWords);
  const { number, money, share, change, clock } = useFormats();
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
        {({ total, comparison, currency, deliveries }) => {
          const before = comparison?.total;
          const rate = (value: number | null | undefined) =>
            value === null || value === undefined ? "–" : share(value);
          const moneyFact = (name: string, micros: number | undefined, microsBefore: number | undefined) => ({
            name,
            value: micros === undefined ? "–" : money(micros, currency),
            more: changeOf(micros, microsBefore),
          });
          const facts = [
            { name: words.requests, value: number(total.requests), more: changeOf(total.requests, before?.requests) },
            { name: words.fillRate, value: rate(total.fillRate), more: undefined },
            { name: words.views, value: number(total.rewards), more: changeOf(total.rewards, before?.rewards) },
            { name: words.clicks, value: number(total.clicks), more: changeOf(total.clicks, before?.clicks) },
            total.spendMicros === undefined
              ? moneyFact(words.revenue, total.revenueMicros, before?.revenueMicros)
              : moneyFact(words.spend, total.spendMicros, before?.spendMicros),
            { name: words.delivered, value: rate(deliveries?.successRate), more: undefined },
          ];
          return (
            <dl className="panel facts">
              {facts.map(({ name, value, more }) => (
                <div key={name}>
                  <dt>{name}</dt>
                  <dd>
                    {value}
                    {more !== undefined && <small> {change(more)}</small>}
                  </dd>
                </div>
              ))}
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
