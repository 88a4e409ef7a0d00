import type { ReportObject } from "@intermission/operator-api/report-address";
import { useMay } from "../session/use-session.ts";
import { Icon } from "../ui/icon.tsx";
import { useLanguage, useWords } from "../words/word-table.ts";
import type { Report } from "./figures.ts";
import { nameOfKey } from "./names-of-keys.ts";
import { limitsOf } from "./narrow-report.ts";
import type { ReportsSearch } from "./search.ts";
import { viewWords } from "./view-words.ts";
import { objectWords } from "./words.ts";

interface ReportLimitsProps {
  search: ReportsSearch;
  /** Undefined until the names are known. */
  names: Report["of"];
  onRemove: (object: ReportObject) => void;
}

/** What the report is limited to, beside bot and campaign, which have fields: each can be removed. */
export function ReportLimits({ search, names, onRemove }: ReportLimitsProps) {
  const words = useWords(viewWords);
  const language = useLanguage();
  const may = useMay();
  const hasField = (object: ReportObject) =>
    (object === "bot" && may("showBot")) || (object === "campaign" && may("listCampaigns"));
  const shown = limitsOf(search).filter((object) => !hasField(object));
  if (shown.length === 0) return null;
  return (
    <ul className="limits" aria-label={words.limits}>
      {shown.map((object) => {
        const of = { keys: { [object]: search[object] }, names: names ?? {} };
        const text = `${objectWords[language][object]}: ${nameOfKey(language, of, object) ?? search[object]}`;
        return (
          <li key={object} className="saved-report">
            <span>{text}</span>
            <button type="button" aria-label={words.unlimited(text)} onClick={() => onRemove(object)}>
              <Icon name="close" />
            </button>
          </li>
        );
      })}
    </ul>
  );
}
