import { useState } from "react";
import { uiWords } from "../ui/words.ts";
import { useWords } from "../words/word-table.ts";
import { columnsOf, figures, keepView, namedColumns } from "./columns.ts";
import type { Figure, Report } from "./figures.ts";
import type { ReportsSearch } from "./search.ts";
import { useFigureNames, viewWords } from "./view-words.ts";

export interface ReportViewProps {
  report: Report;
  search: ReportsSearch;
  onChange: (changes: Partial<ReportsSearch>) => void;
  /** Whether the file of the report begins with its columns. */
  isPlainCsv: boolean;
  onPlainCsv: (isPlain: boolean) => void;
}

/** Which figures the table shows, in which order its rows are, and how its file begins. This browser remembers it. */
export function ReportView({ report, search, onChange, isPlainCsv, onPlainCsv }: ReportViewProps) {
  const words = useWords(viewWords);
  const { columns } = useWords(uiWords);
  const names = useFigureNames();
  const [chosen, setChosen] = useState(() => columnsOf(search, report.total));
  const choose = (figure: Figure, isChosen: boolean) => {
    const next = isChosen ? [...chosen, figure] : chosen.filter((one) => one !== figure);
    setChosen(next);
    const named = namedColumns(next);
    keepView({ columns: named });
    onChange({ columns: named });
  };
  return (
    <>
      <OrderChoice search={search} chosen={columnsOf(search, report.total)} onChange={onChange} />
      <fieldset className="choices">
        <legend>{columns}</legend>
        {figures
          .filter((figure) => report.total[figure] !== undefined)
          .map((figure) => (
            <label key={figure}>
              <input
                type="checkbox"
                checked={chosen.includes(figure)}
                onChange={({ target }) => choose(figure, target.checked)}
              />
              {names[figure]}
            </label>
          ))}
      </fieldset>
      <fieldset className="choices">
        <legend>{words.csvFile}</legend>
        <label>
          <input
            type="checkbox"
            checked={!isPlainCsv}
            onChange={({ target }) => {
              keepView({ isPlainCsv: !target.checked });
              onPlainCsv(!target.checked);
            }}
          />
          {words.csvHeading}
        </label>
      </fieldset>
    </>
  );
}

interface OrderChoiceProps {
  search: ReportsSearch;
  chosen: readonly Figure[];
  onChange: (changes: Partial<ReportsSearch>) => void;
}

/** Cards have no heads to press. */
function OrderChoice({ search, chosen, onChange }: OrderChoiceProps) {
  const { order, asListed, ascending, descending } = useWords(uiWords);
  const names = useFigureNames();
  const orders = chosen.flatMap((figure) => [
    { value: figure, text: descending(names[figure]), orderBy: figure, order: undefined },
    { value: `-${figure}`, text: ascending(names[figure]), orderBy: figure, order: "ascending" } as const,
  ]);
  const current = search.orderBy && `${search.order === undefined ? "" : "-"}${search.orderBy}`;
  return (
    <label className="filter">
      {order}
      <select
        value={orders.some(({ value }) => value === current) ? current : ""}
        onChange={({ target }) => {
          const { orderBy, order } = orders.find(({ value }) => value === target.value) ?? {};
          onChange({ orderBy, order });
        }}
      >
        <option value="">{asListed}</option>
        {orders.map(({ value, text }) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}
