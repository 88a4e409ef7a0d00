import { useEffect, useRef, useState } from "react";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { drawnParts, type LineChart } from "./line-chart.ts";

const HEIGHT = 240;
/** Dashes, so that lines are told apart without their colour. */
const dashes = [[], [8, 4], [2, 3], [12, 3, 2, 3], [5, 5]];
/** To a day or hour that is not over. */
const UNFINISHED = [2, 5];

export interface LinePlotProps {
  chart: LineChart;
  /** Writes a value, and the day or hour of one. */
  textOf: (value: number) => string;
  timeText: (time: string) => string;
  /** Names what is drawn of a day or hour that is not over. */
  unfinishedText: string;
  /** Of counts, whose axis has no halves. */
  isWhole: boolean;
}

/**
 * The lines of a report. It is a picture of the table, which is what screen readers read; under the pointer its legend says the
 * values of one time. Loaded when a report has lines.
 */
export function LinePlot({ chart, textOf, timeText, unfinishedText, isWhole }: LinePlotProps) {
  const frame = useRef<HTMLDivElement>(null);
  const colours = useColours();
  const [pointed, setPointed] = useState<number>();
  const texts = useRef({ textOf, timeText });
  texts.current = { textOf, timeText };
  useEffect(() => {
    const element = frame.current;
    if (element === null) return;
    const plot = new uPlot(
      optionsOf({
        chart,
        isWhole,
        colours,
        width: element.clientWidth,
        texts: () => texts.current,
        onPoint: setPointed,
      }),
      [chart.times.map((_, index) => index), ...drawnLines(chart).map(({ values }) => values)],
      element,
    );
    const observer = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: HEIGHT }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      plot.destroy();
    };
  }, [chart, isWhole, colours]);
  const at = pointed === undefined ? undefined : chart.times[pointed];
  return (
    <div aria-hidden="true">
      <div ref={frame} className="plot" />
      <ul className="legend">
        {at !== undefined && <li className="legend-time">{timeText(at)}</li>}
        {chart.lines.map(({ name, values, isBefore }, index) => {
          const value = pointed === undefined ? undefined : values[pointed];
          return (
            <li key={`${index} ${name}`}>
              <Mark look={isBefore ? "before" : index + 1} dash={dashOf(index, isBefore)} />
              {name}
              {value !== undefined && value !== null && <strong>{textOf(value)}</strong>}
            </li>
          );
        })}
        {(chart.unfinished ?? 0) > 0 && (
          <li>
            <Mark look={chart.lines.length === 1 ? 1 : "before"} dash={UNFINISHED} />
            {unfinishedText}
          </li>
        )}
      </ul>
    </div>
  );
}

function Mark({ look, dash }: { look: number | "before"; dash: readonly number[] }) {
  return (
    <svg viewBox="0 0 28 4" className={`legend-mark legend-mark-${look}`} aria-hidden="true">
      <line x1="0" y1="2" x2="28" y2="2" strokeDasharray={dash.join(" ")} />
    </svg>
  );
}

/** The lines of the plot, each with its place in the chart: those to what is not over are drawn by themselves. */
function drawnLines(chart: LineChart) {
  const drawn = chart.lines.map((line, index) => ({ ...line, index, ...drawnParts(chart, line) }));
  return [
    ...drawn.map(({ over, name, index, isBefore }) => ({ name, index, isBefore, values: over, isOver: true })),
    ...drawn.flatMap(({ rest, name, index, isBefore }) =>
      rest ? [{ name, index, isBefore, values: rest, isOver: false }] : [],
    ),
  ];
}

function dashOf(index: number, isBefore = false): number[] {
  return isBefore ? [4, 4] : (dashes[index] ?? []);
}

interface Colours {
  text: string;
  grid: string;
  before: string;
  lines: string[];
}

/** Those of the theme: a canvas does not know the page's properties. */
function readColours(): Colours {
  const style = getComputedStyle(document.documentElement);
  const colour = (name: string) => style.getPropertyValue(name).trim();
  return {
    text: colour("--secondary"),
    grid: colour("--line"),
    before: colour("--secondary"),
    lines: dashes.map((_, index) => colour(`--chart-${index + 1}`)),
  };
}

function useColours(): Colours {
  const [colours, setColours] = useState(readColours);
  useEffect(() => {
    const dark = matchMedia("(prefers-color-scheme: dark)");
    const onChange = () => setColours(readColours());
    dark.addEventListener("change", onChange);
    return () => dark.removeEventListener("change", onChange);
  }, []);
  return colours;
}

interface PlotInput {
  chart: LineChart;
  isWhole: boolean;
  colours: Colours;
  width: number;
  texts: () => Pick<LinePlotProps, "textOf" | "timeText">;
  onPoint: (index: number | undefined) => void;
}

const wholeSteps = Array.from({ length: 13 }, (_, digits) => [1, 2, 5].map((step) => step * 10 ** digits)).flat();

function optionsOf({ chart, isWhole, colours, width, texts, onPoint }: PlotInput): uPlot.Options {
  const axis = { stroke: colours.text, grid: { stroke: colours.grid, width: 1 }, ticks: { show: false } };
  const isLone = chart.times.length === 1;
  return {
    width,
    height: HEIGHT,
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false }, points: { size: 7 } },
    // Times are counted, not measured: a day that has 23 hours is as wide as the others.
    scales: {
      x: { time: false, range: isLone ? [-1, 1] : [0, chart.times.length - 1] },
      y: { range: (_, min, max) => [Math.min(0, min ?? 0), max > 0 ? max * 1.05 : 1] },
    },
    axes: [
      {
        ...axis,
        size: 34,
        space: 80,
        incrs: [1, 2, 3, 7, 14, 28, 56, 112, 224, 448],
        values: (_, splits) => splits.map((index) => timeAt(chart.times[index], texts().timeText)),
      },
      {
        ...axis,
        size: 76,
        space: 44,
        ...(isWhole && { incrs: wholeSteps }),
        values: (_, splits) => splits.map((value) => texts().textOf(value)),
      },
    ],
    series: [
      {},
      ...drawnLines(chart).map(({ name, index, isBefore, isOver }) => ({
        label: name,
        stroke: isBefore ? colours.before : (colours.lines[index] ?? colours.text),
        width: 2,
        dash: isOver ? dashOf(index, isBefore) : UNFINISHED,
        points: { show: isLone },
      })),
    ],
    hooks: { setCursor: [({ cursor }) => onPoint(cursor.idx ?? undefined)] },
  };
}

const timeAt = (time: string | undefined, text: (time: string) => string) => (time === undefined ? "" : text(time));
