import type { ReportObject } from "@intermission/operator-api/report-address";
import { useFormats } from "../words/formats.ts";
import { useWords } from "../words/word-table.ts";
import { type Figure, type Figures, type Report, useFigureText } from "./figures.ts";
import { limitsOf } from "./narrow-report.ts";
import type { ReportsSearch } from "./search.ts";
import { useFigureNames, viewWords } from "./view-words.ts";

/** The steps of the funnel, from the request for an ad to the conversion. */
const steps = [
  "requests",
  "fills",
  "starts",
  "firstQuartiles",
  "midpoints",
  "thirdQuartiles",
  "completions",
  "rewards",
  "taps",
  "conversions",
] as const satisfies readonly Figure[];

const ofCampaigns: readonly ReportObject[] = ["campaign", "creative", "advertiser"];

/** The steps of a report's total, each against the one before and against the first. */
export function stepsOf(total: Figures, limits: readonly ReportObject[]) {
  // A request that got no ad belongs to no campaign.
  const shown = limits.some((object) => ofCampaigns.includes(object)) ? steps.slice(1) : steps;
  const [first = 0] = shown.map((step) => total[step]);
  return shown.map((step, index) => {
    const before = shown[index - 1];
    return {
      step,
      count: total[step],
      ofFirst: share(total[step], first),
      ofBefore: before && share(total[step], total[before]),
    };
  });
}

const share = (part: number, whole: number) => (whole === 0 ? undefined : part / whole);

/** Where requests for ads are lost: of the report's total, as its filters limit it. */
export function ReportFunnel({ report, search }: { report: Report; search: ReportsSearch }) {
  const words = useWords(viewWords);
  const names = useFigureNames();
  const { number } = useFormats();
  const textOf = useFigureText(report.currency);
  const percent = (value: number | undefined) => (value === undefined ? "–" : textOf("fillRate", value));
  return (
    <>
      <ol className="bars funnel">
        {stepsOf(report.total, limitsOf(search)).map(({ step, count, ofFirst, ofBefore }) => (
          <li key={step}>
            <span className="bar-name">{names[step]}</span>
            <span className="bar-track" aria-hidden="true">
              <span className="bar" style={{ inlineSize: `${Math.min(1, ofFirst ?? 0) * 100}%` }} />
            </span>
            <span className="number">
              {number(count)}
              <small>{ofBefore === undefined ? percent(ofFirst) : words.ofStepBefore(percent(ofBefore))}</small>
            </span>
          </li>
        ))}
      </ol>
      <p className="report-note secondary">{words.funnelNote(report.total.clicks)}</p>
    </>
  );
}
