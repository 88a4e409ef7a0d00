import { type PayoutRun, payoutRunRoutes, type RunFormat } from "@intermission/operator-api/payout-runs";
import { addressOf, callOperator } from "../operator/call-operator.ts";
import { usePages } from "../operator/use-pages.ts";
import { AnswerView } from "../ui/answer-view.tsx";
import { type Column, DataTable } from "../ui/data-table.tsx";
import { useFormats } from "../words/formats.ts";
import { useWords } from "../words/word-table.ts";
import { payoutWords } from "./words.ts";

/** Payouts that were recorded together, each with its files for the bank. */
export function Runs() {
  const words = useWords(payoutWords);
  const columns = useColumns();
  const pages = usePages([payoutRunRoutes.listPayoutRuns.path], (after, signal) =>
    callOperator(payoutRunRoutes.listPayoutRuns, { query: { after, limit: 12 } }, signal),
  );
  return (
    <AnswerView query={pages} rows={2}>
      {({ pages: read }) => {
        const rows = read.flatMap(({ runs }) => runs);
        if (rows.length === 0) return null;
        return (
          <section aria-labelledby="runs" className="payout-runs">
            <div className="list-head">
              <h2 id="runs">{words.runs}</h2>
            </div>
            <DataTable label={words.runs} columns={columns} rows={rows} pages={pages} keyOf={({ runId }) => runId} />
          </section>
        );
      }}
    </AnswerView>
  );
}

function useColumns(): Column<PayoutRun>[] {
  const words = useWords(payoutWords);
  const { dateTime, month: monthOf, exactMoney, number } = useFormats();
  const file = ({ runId, month }: PayoutRun, format: RunFormat, text: string) => (
    <a
      className="link"
      href={addressOf(payoutRunRoutes.readPayoutRun, { params: { runId }, query: { format } })}
      aria-label={words.fileOf({ file: text, month: monthOf(month) })}
    >
      {text}
    </a>
  );
  return [
    { title: words.recordedAt, cell: ({ madeAt }) => dateTime(madeAt) },
    { title: words.month, cell: ({ month }) => monthOf(month) },
    { title: words.number, isNumber: true, cell: ({ payouts }) => number(payouts) },
    { title: words.sum, isNumber: true, cell: ({ amountMicros, currency }) => exactMoney(amountMicros, currency) },
    { title: words.reference, cell: ({ reference }) => reference },
    {
      title: words.files,
      cell: (run) => (
        <span className="row">
          {run.hasSepaFile && file(run, "sepa", "SEPA")}
          {file(run, "csv", "CSV")}
        </span>
      ),
    },
  ];
}
