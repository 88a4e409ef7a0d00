import { type ReportRange, ranges } from "@intermission/operator-api/report-address";
import { useWords } from "../words/word-table.ts";
import type { ReportsSearch } from "./search.ts";
import { rangeWords, viewWords } from "./view-words.ts";

const inOrder = ["today", "yesterday", "7-days", "28-days", "this-month", "last-month"] as const satisfies readonly (
  | ReportRange
  | "7-days"
)[];

interface ReportPresetsProps {
  search: ReportsSearch;
  onChoose: (changes: Partial<ReportsSearch>) => void;
}

/** Ranges that move with the calendar, so that a saved report is of today whenever it is opened. */
export function ReportPresets({ search, onChoose }: ReportPresetsProps) {
  const words = useWords(viewWords);
  const names = useWords(rangeWords);
  const isOfDays = search.from !== undefined || search.to !== undefined;
  const current = search.range ?? (isOfDays ? undefined : "7-days");
  return (
    <fieldset className="presets" aria-label={words.range}>
      {inOrder.map((one) => (
        <button
          key={one}
          type="button"
          className="button button-plain"
          aria-pressed={one === current}
          onClick={() => onChoose({ ...days(one), ...timeFor(one, search) })}
        >
          {names[one]}
        </button>
      ))}
    </fieldset>
  );
}

function days(chosen: (typeof inOrder)[number]): Pick<ReportsSearch, "range" | "from" | "to"> {
  return { range: ranges.find((one) => one === chosen), from: undefined, to: undefined };
}

/** One day is a line by its hours, and several are one by days: what is split by objects alone stays so. */
function timeFor(chosen: (typeof inOrder)[number], { time, by }: ReportsSearch): Pick<ReportsSearch, "time"> {
  if (time === undefined && by !== undefined) return {};
  const isOneDay = chosen === "today" || chosen === "yesterday";
  return { time: isOneDay ? "hour" : by === undefined ? undefined : "day" };
}
