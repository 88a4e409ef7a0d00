import type { AnswerOf } from "@intermission/operator-api/route";
import type { Dimension, ReportOrder, statisticsRoutes } from "@intermission/operator-api/statistics";
import { Link } from "@tanstack/react-router";
import { useFormats } from "../words/formats.ts";
import { useLanguage, useWords } from "../words/word-table.ts";
import { nameOfKey } from "./names-of-keys.ts";
import { changeOf, dimensionsOf, nextOrder } from "./report-query.ts";
import type { ReportsSearch } from "./search.ts";
import { objectWords, reportWords } from "./words.ts";

export type Report = AnswerOf<typeof statisticsRoutes.readStats>;
export type Row = Report["rows"][number];
type Figures = Report["total"];

/** The figures of the table; the CSV file has more. */
export const figures = [
  "requests",
  "fills",
  "fillRate",
  "starts",
  "completions",
  "rewards",
  "taps",
  "clicks",
  "conversions",
  "spendMicros",
  "revenueMicros",
  "ecpmMicros",
] as const satisfies readonly ReportOrder[];
export type Figure = (typeof figures)[number];

/** The CSV file has the others. */
const MAX_ROWS = 1000;

/** Rows and their total, each figure with its change against the range that is compared with. */
export function ReportTable({ report, search }: { report: Report; search: ReportsSearch }) {
  const words = useWords(reportWords);
  const language = useLanguage();
  const dimensions = dimensionsOf(search);
  // Publishers and advertisers get no figures of the other side's money.
  const shown = figures.filter((figure) => report.total[figure] !== undefined);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a wide table scrolls in its frame, and the keyboard must reach it.
    <section className="report-frame" aria-label={words.title} tabIndex={0}>
      <table className="report">
        <Head dimensions={dimensions} shown={shown} search={search} />
        <tbody>
          {report.rows.slice(0, MAX_ROWS).map((row) => (
            <tr key={row.key}>
              {dimensions.map((dimension) => (
                <th key={dimension} scope="row">
                  {nameOfKey(language, row, dimension) ?? <span className="secondary">{words.notRecorded}</span>}
                </th>
              ))}
              {shown.map((figure) => (
                <Cell key={figure} figure={figure} now={row} before={row.before} currency={report.currency} />
              ))}
            </tr>
          ))}
        </tbody>
        <tfoot>
          <tr>
            <th scope="row" colSpan={dimensions.length}>
              {words.total}
            </th>
            {shown.map((figure) => (
              <Cell
                key={figure}
                figure={figure}
                now={report.total}
                before={report.comparison?.total}
                currency={report.currency}
              />
            ))}
          </tr>
        </tfoot>
      </table>
      {(report.rows.length > MAX_ROWS || report.next !== null) && (
        <p className="report-rest secondary">{words.rest(MAX_ROWS)}</p>
      )}
    </section>
  );
}

interface HeadProps {
  dimensions: readonly Dimension[];
  shown: readonly Figure[];
  search: ReportsSearch;
}

function Head({ dimensions, shown, search }: HeadProps) {
  const words = useWords(reportWords);
  const objects: Partial<Record<Dimension, string>> = objectWords[useLanguage()];
  const sorted = search.order === undefined ? "descending" : "ascending";
  return (
    <thead>
      <tr>
        {dimensions.map((dimension) => (
          <th key={dimension} scope="col">
            {dimension === "day" || dimension === "hour" ? words.times[dimension] : objects[dimension]}
          </th>
        ))}
        {shown.map((figure) => (
          <th key={figure} scope="col" className="number" aria-sort={search.orderBy === figure ? sorted : undefined}>
            <Link to="/reports" search={{ ...search, ...nextOrder(search, figure) }} replace>
              {words.figures[figure]}
            </Link>
          </th>
        ))}
      </tr>
    </thead>
  );
}

interface CellProps {
  figure: Figure;
  now: Figures;
  before: Figures | undefined;
  currency: string;
}

function Cell({ figure, now, before, currency }: CellProps) {
  const { number, share, change: changeText, money } = useFormats();
  const value = now[figure];
  const change = changeOf(value, before?.[figure]);
  const text = (amount: number) => {
    if (figure === "fillRate") return share(amount);
    return figure.endsWith("Micros") ? money(amount, currency) : number(amount);
  };
  return (
    <td className="number">
      {value === null || value === undefined ? "–" : text(value)}
      {change !== undefined && <small>{changeText(change)}</small>}
    </td>
  );
}
