import { billingLogRoutes } from "@intermission/operator-api/billing-log";
import { statementAmounts } from "@intermission/operator-api/currency-units";
import { type MoneyStatement, type StatementFormat, statementRoutes } from "@intermission/operator-api/statements";
import { addressOf, callOperator } from "../operator/call-operator.ts";
import { usePages } from "../operator/use-pages.ts";
import { AnswerView, EmptyState } from "../ui/answer-view.tsx";
import { type Column, DataTable } from "../ui/data-table.tsx";
import { useFormats } from "../words/formats.ts";
import { useWords } from "../words/word-table.ts";
import { advertiserWords } from "./words.ts";

/** The monthly statements of an advertiser, each a page to print and a file. */
export function Statements({ advertiserId }: { advertiserId: string }) {
  const words = useWords(advertiserWords);
  const columns = useColumns(advertiserId);
  const pages = usePages([statementRoutes.listAdvertiserStatements.path, advertiserId], (before, signal) =>
    callOperator(
      statementRoutes.listAdvertiserStatements,
      { params: { advertiser: advertiserId }, query: { before, limit: 12 } },
      signal,
    ),
  );
  return (
    <section aria-labelledby="statements">
      <div className="list-head">
        <h2 id="statements">{words.statements}</h2>
      </div>
      <AnswerView query={pages} rows={2}>
        {({ pages: read }) => {
          const rows = read.flatMap(({ statements }) => statements);
          if (rows.length === 0) return <EmptyState>{words.noStatements}</EmptyState>;
          return (
            <DataTable
              label={words.statements}
              columns={columns}
              rows={rows}
              pages={pages}
              keyOf={({ number }) => String(number)}
            />
          );
        }}
      </AnswerView>
    </section>
  );
}

function useColumns(advertiserId: string): Column<MoneyStatement>[] {
  const words = useWords(advertiserWords);
  const { month: monthOf, amountInUnits } = useFormats();
  const fileOf = ({ number }: MoneyStatement, format: StatementFormat) =>
    addressOf(statementRoutes.readAdvertiserStatement, {
      params: { advertiser: advertiserId, number: String(number) },
      query: { format },
    });
  return [
    { title: words.month, cell: ({ month }) => monthOf(month) },
    { title: words.statement, cell: ({ number }) => `№ ${number}` },
    {
      title: words.closing,
      isNumber: true,
      cell: (statement) => amountInUnits(statementAmounts(statement).closing, statement.currency),
    },
    {
      title: words.print,
      cell: (statement) => (
        <a
          className="link"
          href={fileOf(statement, "html")}
          target="_blank"
          rel="noreferrer"
          aria-label={words.printOf(monthOf(statement.month))}
        >
          {words.print}
        </a>
      ),
    },
    {
      title: words.file,
      cell: (statement) => (
        <a className="link" href={fileOf(statement, "csv")} aria-label={words.fileOf(monthOf(statement.month))}>
          {words.file}
        </a>
      ),
    },
    {
      title: words.proof,
      cell: ({ number, month }) => (
        <a
          className="link"
          href={addressOf(billingLogRoutes.readStatementProof, {
            params: { advertiser: advertiserId, number: String(number) },
          })}
          aria-label={`${words.proof}, ${monthOf(month)}`}
        >
          {words.proof}
        </a>
      ),
    },
  ];
}
