import { type AdReport, creativeRoutes } from "@intermission/operator-api/creatives";
import { useAnswer } from "../operator/use-operator.ts";
import { DataTable } from "../ui/data-table.tsx";
import { loadWords } from "../words/catalog.ts";
import { useFormats } from "../words/formats.ts";
import type { Language } from "../words/languages.ts";
import { useLanguage, useWords } from "../words/word-table.ts";

const adReportWords = loadWords("adReports");

const adReportReasonWords = loadWords("adReportReasons") satisfies Record<Language, Record<AdReport["reason"], string>>;

/** There are fewer reasons. */
const MAX_REASONS = 20;

/** What viewers have objected to in a creative; nothing where they have not. */
export function AdReports({ creativeId }: { creativeId: string }) {
  const words = useWords(adReportWords);
  const reasons = adReportReasonWords[useLanguage()];
  const { number, ago, dateTime } = useFormats();
  const { data } = useAnswer(creativeRoutes.listAdReports, { query: { creativeId, limit: MAX_REASONS } });
  if (data === undefined || data.reports.length === 0) return null;
  return (
    <section aria-labelledby="ad-reports">
      <h2 id="ad-reports">{words.title}</h2>
      <DataTable<AdReport>
        label={words.title}
        rows={data.reports}
        keyOf={({ reason }) => reason}
        columns={[
          { title: words.reason, cell: ({ reason }) => reasons[reason] },
          { title: words.reports, isNumber: true, cell: ({ reports }) => number(reports) },
          { title: words.users, isNumber: true, cell: ({ users }) => number(users) },
          { title: words.latest, cell: ({ latestAt }) => <span title={dateTime(latestAt)}>{ago(latestAt)}</span> },
        ]}
      />
    </section>
  );
}
