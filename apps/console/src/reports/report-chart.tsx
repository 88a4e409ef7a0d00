import { type ComponentType, lazy, Suspense, useMemo } from "react";
import { useFormats } from "../words/formats.ts";
import { useLanguage, useWords } from "../words/word-table.ts";
import { type BarChart, chartOf } from "./chart-series.ts";
import type { LinePlotProps } from "./line-plot.tsx";
import { dimensionsOf } from "./report-query.ts";
import { type Figure, figures, type Report } from "./report-table.tsx";
import type { ReportsSearch } from "./search.ts";
import { reportWords } from "./words.ts";

// The library that draws lines is larger than the rest of the screen. Without it the figures are still in the table.
const LinePlot = lazy<ComponentType<LinePlotProps>>(async () => ({
  default: await import("./line-plot.tsx").then(
    (file) => file.LinePlot,
    () => NoPlot,
  ),
}));
const NoPlot = () => null;

interface ReportChartProps {
  report: Report;
  search: ReportsSearch;
  onFigure: (figure: Figure) => void;
}

/** One figure of the report as a picture. The table under it has the same values as text. */
export function ReportChart({ report, search, onFigure }: ReportChartProps) {
  const words = useWords(reportWords);
  const language = useLanguage();
  const shown = figures.filter((figure) => report.total[figure] !== undefined);
  const figure = shown.find((one) => one === search.figure) ?? busiest(report);
  const chart = useMemo(
    () =>
      chartOf(report, search, {
        figure,
        words: { ...words.lines, notRecorded: words.notRecorded },
        language,
        now: new Date(),
      }),
    [report, search, figure, words, language],
  );
  const textOf = useFigureText(figure, report.currency);
  const timeText = useTimeText(search);
  return (
    <section className="panel report-chart" aria-labelledby="report-chart">
      <div className="list-head">
        <h2 id="report-chart" className="only-heard">
          {words.chart}
        </h2>
        <select
          aria-label={words.chartFigure}
          value={figure}
          onChange={({ target }) => onFigure(shown.find((one) => one === target.value) ?? figure)}
        >
          {shown.map((one) => (
            <option key={one} value={one}>
              {words.figures[one]}
            </option>
          ))}
        </select>
        <span className="secondary">{chart.left > 0 && words.left(chart.left)}</span>
      </div>
      {chart.kind === "bars" ? (
        <Bars chart={chart} textOf={textOf} />
      ) : (
        <Suspense fallback={<div className="plot" />}>
          <LinePlot
            chart={chart}
            textOf={textOf}
            timeText={timeText}
            unfinishedText={words.lines.unfinished}
            isWhole={figure !== "fillRate" && !figure.endsWith("Micros")}
          />
        </Suspense>
      )}
    </section>
  );
}

/** What a report is about first: money, if anybody pays, else what was requested or clicked. */
function busiest({ total }: Report): Figure {
  if ((total.spendMicros ?? 0) > 0) return "spendMicros";
  if ((total.revenueMicros ?? 0) > 0) return "revenueMicros";
  return total.requests >= total.clicks ? "requests" : "clicks";
}

function useFigureText(figure: Figure, currency: string): (value: number) => string {
  const { number, share, money } = useFormats();
  if (figure === "fillRate") return share;
  return figure.endsWith("Micros") ? (value) => money(value, currency) : number;
}

/** Of a day `2026-03-01`, or of an hour of the zone with its offset: as the zone's clock shows it. */
function useTimeText(search: ReportsSearch): (time: string) => string {
  const language = useLanguage();
  const isByHour = dimensionsOf(search).includes("hour");
  const format = new Intl.DateTimeFormat(language, {
    timeZone: "UTC",
    day: "numeric",
    month: "short",
    ...(isByHour && { hour: "2-digit", minute: "2-digit" }),
  });
  return (time) => format.format(new Date(`${time.slice(0, isByHour ? 16 : 10)}${isByHour ? ":00" : "T00:00:00"}Z`));
}

function Bars({ chart, textOf }: { chart: BarChart; textOf: (value: number) => string }) {
  const { lines } = useWords(reportWords);
  const isCompared = chart.bars.some(({ before }) => before !== undefined);
  const max = Math.max(1, ...chart.bars.flatMap(({ value, before = 0 }) => [value, before]));
  const width = (value: number) => ({ inlineSize: `${Math.max(0, (value / max) * 100)}%` });
  return (
    <div aria-hidden="true">
      <ul className="bars">
        {chart.bars.map(({ name, value, before }, index) => (
          <li key={`${index} ${name}`}>
            <span className="bar-name">{name}</span>
            <span className="bar-track">
              <span className="bar" style={width(value)} />
              {before !== undefined && <span className="bar bar-before" style={width(before)} />}
            </span>
            <span className="number">{textOf(value)}</span>
          </li>
        ))}
      </ul>
      {isCompared && (
        <ul className="legend">
          <li>
            <span className="legend-bar bar" />
            {lines.all}
          </li>
          <li>
            <span className="legend-bar bar bar-before" />
            {lines.before}
          </li>
        </ul>
      )}
    </div>
  );
}
