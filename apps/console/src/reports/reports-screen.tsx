import { statisticsRoutes } from "@intermission/operator-api/statistics";
import { getRouteApi } from "@tanstack/react-router";
import { useAnswer } from "../operator/use-operator.ts";
import { usePerson } from "../session/use-session.ts";
import { AnswerView, AsOf, EmptyState } from "../ui/answer-view.tsx";
import { Page } from "../ui/page.tsx";
import { useFormats } from "../words/formats.ts";
import { useWords } from "../words/word-table.ts";
import { ReportFilters } from "./report-filters.tsx";
import { reportQueryOf } from "./report-query.ts";
import { ReportTable } from "./report-table.tsx";
import { reportWords } from "./words.ts";
import "./reports.css";

const route = getRouteApi("/shell/reports");

/** Figures of any range and zone, split, compared and ordered; the CSV file is the same report. */
export function ReportsScreen() {
  const words = useWords(reportWords);
  const search = route.useSearch();
  const { dateTime, date } = useFormats();
  const { botIds, advertiser } = usePerson();
  // Publishers and advertisers have reports of what is theirs.
  const own = { botId: search.bot ?? botIds[0], advertiser: advertiser ?? undefined };
  const query = { ...reportQueryOf(search), ...own };
  const report = useAnswer(statisticsRoutes.readStats, { query });
  const csv = new URLSearchParams(Object.entries(query).filter((entry): entry is [string, string] => !!entry[1]));
  return (
    <Page
      title={words.title}
      aside={
        <>
          {report.data && <AsOf at={report.dataUpdatedAt} />}
          <a className="button button-plain" href={`/operator/v1/stats.csv?${csv}`} download="report.csv">
            {words.csv}
          </a>
        </>
      }
    >
      <ReportFilters />
      <AnswerView query={report} rows={8}>
        {(answer) => (
          <>
            <p className="report-note secondary">
              {answer.comparison &&
                `${words.comparedWith(date(answer.comparison.from), date(new Date(answer.comparison.to.getTime() - 1)))} · `}
              {answer.countedUntil && words.countedUntil(dateTime(answer.countedUntil))}
            </p>
            {answer.rows.length === 0 ? (
              <EmptyState>{words.none}</EmptyState>
            ) : (
              <ReportTable report={answer} search={search} />
            )}
            {answer.next !== null && <p className="secondary">{words.rest}</p>}
          </>
        )}
      </AnswerView>
    </Page>
  );
}
