import type { ReportPart } from "@intermission/operator-api/report-address";
import { dimensionsOf } from "@intermission/operator-api/report-address";
import { type ComponentType, lazy, type ReactNode, Suspense, useMemo } from "react";
import { useLanguage, useWords } from "../words/word-table.ts";
import { type BarChart, chartOf } from "./chart-series.ts";
import { type Figure, isCount, type Report, useFigureText } from "./figures.ts";
import type { LinePlotProps } from "./line-plot.tsx";
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
  /** Those that can be chosen, by name. */
  names: Readonly<Partial<Record<Figure, string>>>;
  onFigure: (figure: Figure | ReportPart) => void;
  /** What can be chosen beside the figures. */
  parts?: readonly { part: ReportPart; name: string; shown: ReactNode }[];
}

/** One figure of the report as a picture. The table under it has the same values as text. */
export function ReportChart({ report, search, names, onFigure, parts = [] }: ReportChartProps) {
  const words = useWords(reportWords);
  const shown = (Object.keys(names) as Figure[]).filter((figure) => report.total[figure] !== undefined);
  const figure = shown.find((one) => one === search.figure) ?? busiest(report);
  const current = parts.find(({ part }) => part === search.figure);
  return (
    <section className="panel report-chart" aria-labelledby="report-chart">
      <div className="list-head">
        <h2 id="report-chart" className="only-heard">
          {words.chart}
        </h2>
        <select
          aria-label={words.chartFigure}
          value={current?.part ?? figure}
          onChange={({ target: { value } }) =>
            onFigure([...shown, ...parts.map(({ part }) => part)].find((one) => one === value) ?? figure)
          }
        >
          {shown.map((one) => (
            <option key={one} value={one}>
              {names[one]}
            </option>
          ))}
          {parts.map(({ part, name }) => (
            <option key={part} value={part}>
              {name}
            </option>
          ))}
        </select>
      </div>
      {current?.shown ?? <FigureChart report={report} search={search} figure={figure} />}
    </section>
  );
}

function FigureChart({ report, search, figure }: Pick<ReportChartProps, "report" | "search"> & { figure: Figure }) {
  const words = useWords(reportWords);
  const language = useLanguage();
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
  const figureText = useFigureText(report.currency);
  const textOf = (value: number) => figureText(figure, value);
  const timeText = useTimeText(search);
  return (
    <>
      {chart.kind === "bars" ? (
        <Bars chart={chart} textOf={textOf} />
      ) : (
        <Suspense fallback={<div className="plot" />}>
          <LinePlot
            chart={chart}
            textOf={textOf}
            timeText={timeText}
            unfinishedText={words.lines.unfinished}
            isWhole={isCount(figure)}
          />
        </Suspense>
      )}
      {chart.left > 0 && <p className="secondary">{words.left(chart.left)}</p>}
    </>
  );
}

/** What a report is about first: money, if anybody pays, else what was requested or clicked. */
function busiest({ total }: Report): Figure {
  if ((total.spendMicros ?? 0) > 0) return "spendMicros";
  if ((total.revenueMicros ?? 0) > 0) return "revenueMicros";
  return total.requests >= total.clicks ? "requests" : "clicks";
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
