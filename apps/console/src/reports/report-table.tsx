import { dayOf, hourOf } from "@intermission/operator-api/days-in-zone";
import { dimensionsOf } from "@intermission/operator-api/report-address";
import type { Dimension } from "@intermission/operator-api/report-figures";
import { Link } from "@tanstack/react-router";
import { useLayoutEffect, useRef } from "react";
import { useFormats } from "../words/formats.ts";
import { useLanguage, useWords } from "../words/word-table.ts";
import { columnsOf } from "./columns.ts";
import { type Figure, type Figures, type Report, type Row, useFigureText } from "./figures.ts";
import { nameOfKey } from "./names-of-keys.ts";
import { narrowed } from "./narrow-report.ts";
import { changeOf, nextOrder } from "./report-query.ts";
import type { ReportsSearch } from "./search.ts";
import { useFigureNames } from "./view-words.ts";
import { objectWords, reportWords } from "./words.ts";

/** The CSV file has the others. */
const MAX_ROWS = 1000;

interface ReportTableProps {
  report: Report;
  search: ReportsSearch;
}

/** Rows and their total, each figure with its change against the range that is compared with. A row leads to its own report. */
export function ReportTable({ report, search }: ReportTableProps) {
  const words = useWords(reportWords);
  const dimensions = dimensionsOf(search);
  const shown = columnsOf(search, report.total);
  const frame = useCards();
  const { timeZone } = report;
  const now = new Date();
  const times = [dayOf(timeZone, now), hourOf(timeZone, now)];
  const isOver = ({ keys: { day, hour } }: Row) => !times.some((time) => time === (day ?? hour));
  return (
    <>
      <div className="report-frame" ref={frame}>
        <table className="report" aria-label={words.title}>
          <Head dimensions={dimensions} shown={shown} search={search} />
          <tbody>
            {report.rows.slice(0, MAX_ROWS).map((row) => (
              <tr key={row.key} className={isOver(row) ? undefined : "unfinished"}>
                <RowHeads row={row} dimensions={dimensions} search={search} isOver={isOver(row)} />
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
      </div>
      {(report.rows.length > MAX_ROWS || report.next !== null) && (
        <p className="report-rest secondary">{words.rest(MAX_ROWS)}</p>
      )}
    </>
  );
}

/**
 * Marks a frame whose table is wider than it: its rows become cards then, so that no column is out of sight, however many are
 * chosen and however large the text is. It is measured as a table each time; after a change, once more with the same result.
 */
function useCards() {
  const ref = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const frame = ref.current;
    const table = frame?.firstElementChild;
    if (!frame || !table) return;
    let next = 0;
    const measure = () => {
      frame.removeAttribute("data-cards");
      frame.toggleAttribute("data-cards", frame.scrollWidth > frame.clientWidth);
    };
    const observer = new ResizeObserver(() => {
      cancelAnimationFrame(next);
      next = requestAnimationFrame(measure);
    });
    measure();
    observer.observe(frame);
    observer.observe(table);
    return () => {
      cancelAnimationFrame(next);
      observer.disconnect();
    };
  });
  return ref;
}

interface HeadProps {
  dimensions: readonly Dimension[];
  shown: readonly Figure[];
  search: ReportsSearch;
}

function Head({ dimensions, shown, search }: HeadProps) {
  const words = useWords(reportWords);
  const names = useFigureNames();
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
            <Link to="/reports" search={{ ...search, ...nextOrder(search, figure) }} replace resetScroll={false}>
              {names[figure]}
            </Link>
          </th>
        ))}
      </tr>
    </thead>
  );
}

interface RowHeadsProps {
  row: Row;
  dimensions: readonly Dimension[];
  search: ReportsSearch;
  isOver: boolean;
}

function RowHeads({ row, dimensions, search, isOver }: RowHeadsProps) {
  const words = useWords(reportWords);
  const language = useLanguage();
  const own = narrowed(search, row);
  return dimensions.map((dimension, index) => {
    const name = nameOfKey(language, row, dimension) ?? <span className="secondary">{words.notRecorded}</span>;
    return (
      <th key={dimension} scope="row">
        {index === 0 && own !== undefined ? (
          <Link to="/reports" search={own} className="row-link">
            {name}
          </Link>
        ) : (
          name
        )}
        {index === 0 && !isOver && <small>{words.lines.unfinished}</small>}
      </th>
    );
  });
}

interface CellProps {
  figure: Figure;
  now: Figures;
  before: Figures | undefined;
  currency: string;
}

function Cell({ figure, now, before, currency }: CellProps) {
  const { change: changeText } = useFormats();
  const textOf = useFigureText(currency);
  const names = useFigureNames();
  const value = now[figure];
  const change = changeOf(value, before?.[figure]);
  return (
    <td className="number" data-title={names[figure]} data-figure={figure}>
      {value === null || value === undefined ? "–" : textOf(figure, value)}
      {change !== undefined && <small>{changeText(change)}</small>}
    </td>
  );
}
