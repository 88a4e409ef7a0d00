import { amountOf } from "@intermission/operator-api/amounts";
import { csvOf } from "@intermission/operator-api/csv";
import { type EarningsMonth, publisherMoneyRoutes } from "@intermission/operator-api/publisher-money";
import { statementRoutes } from "@intermission/operator-api/statements";
import { useAnswer } from "../operator/use-operator.ts";
import { AnswerView, EmptyState } from "../ui/answer-view.tsx";
import { Button } from "../ui/button.tsx";
import { saveCsv } from "../ui/csv.ts";
import { DataTable } from "../ui/data-table.tsx";
import { useFormats } from "../words/formats.ts";
import { useWords } from "../words/word-table.ts";
import { CorrectButton } from "./correct-button.tsx";
import { payoutsOf } from "./payouts.ts";
import { publisherWords } from "./words.ts";

/** What a bot's publisher earned by month, what was paid last, and what comes next. */
export function Earnings({ botId }: { botId: string }) {
  const words = useWords(publisherWords);
  const { exactMoney, date, dateTime, month } = useFormats();
  const earnings = useAnswer(publisherMoneyRoutes.readEarnings, { params: { botId } });
  return (
    <section className="stack" aria-labelledby="earnings">
      <AnswerView query={earnings}>
        {({ currency, months, owedMicros, settledUntil }) => {
          const { last, next } = payoutsOf(months, new Date());
          const facts = [
            [words.owed, exactMoney(owedMicros, currency), settledUntil && words.settled(dateTime(settledUntil))],
            [words.lastPayout, last ? date(last.paidAt) : words.noPayout, last && words.until(month(last.month))],
            [
              words.nextPayout,
              next ? exactMoney(next.amountMicros, currency) : words.nextNone,
              next && words.until(month(next.until)),
            ],
          ] as const;
          return (
            <>
              <header className="panel-head">
                <h2 id="earnings">{words.earnings}</h2>
                <span className="panel-actions">
                  <CorrectButton botId={botId} currency={currency} />
                  <Button onClick={() => saveCsv(`earnings-${botId}.csv`, earningsCsv(months, currency))}>
                    {words.csv}
                  </Button>
                </span>
              </header>
              <dl className="panel facts">
                {facts.map(([name, value, note]) => (
                  <div key={name}>
                    <dt>{name}</dt>
                    <dd>{value}</dd>
                    {note && <dd className="earnings-note">{note}</dd>}
                  </div>
                ))}
              </dl>
              {months.length === 0 ? (
                <EmptyState>{words.noEarnings}</EmptyState>
              ) : (
                <Months months={months} currency={currency} />
              )}
              <Statements botId={botId} />
            </>
          );
        }}
      </AnswerView>
    </section>
  );
}

function Months({ months, currency }: { months: readonly EarningsMonth[]; currency: string }) {
  const words = useWords(publisherWords);
  const { exactMoney, date, month: monthName } = useFormats();
  return (
    <DataTable
      label={words.earnings}
      rows={months}
      keyOf={({ month }) => month}
      columns={[
        { title: words.month, cell: ({ month }) => monthName(month) },
        { title: words.earned, isNumber: true, cell: ({ earnedMicros }) => exactMoney(earnedMicros, currency) },
        {
          title: words.paid,
          cell: ({ paidAt }) => (paidAt === null ? <span className="pill">{words.notPaid}</span> : date(paidAt)),
        },
        { title: words.reference, cell: ({ reference }) => reference },
      ]}
    />
  );
}

function Statements({ botId }: { botId: string }) {
  const words = useWords(publisherWords);
  const { month: monthName } = useFormats();
  const statements = useAnswer(statementRoutes.listPublisherStatements, { params: { botId } });
  if (statements.data === undefined || statements.data.statements.length === 0) return null;
  return (
    <div>
      <h3>{words.statements}</h3>
      <ul>
        {statements.data.statements.map(({ number, month }) => (
          <li key={number}>
            <a
              className="link"
              href={`/operator/v1/money/publishers/${botId}/statements/${number}?format=html`}
              target="_blank"
              rel="noreferrer"
            >
              {words.statementOf(monthName(month))}
            </a>
          </li>
        ))}
      </ul>
    </div>
  );
}

function earningsCsv(months: readonly EarningsMonth[], currency: string): string {
  return csvOf([
    ["month", "earned", "currency", "paid_at", "reference"],
    ...months.map(({ month, earnedMicros, paidAt, reference }) => [
      month,
      Number(amountOf(earnedMicros)),
      currency,
      paidAt,
      reference,
    ]),
  ]);
}
