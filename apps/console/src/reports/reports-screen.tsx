import { getRouteApi } from "@tanstack/react-router";
import { useEffect } from "react";
import { usePerson } from "../session/use-session.ts";
import { AnswerView, AsOf, EmptyState, ShowAll } from "../ui/answer-view.tsx";
import { Page } from "../ui/page.tsx";
import { useFormats } from "../words/formats.ts";
import { useWords } from "../words/word-table.ts";
import { ReportChart } from "./report-chart.tsx";
import { ReportFilters } from "./report-filters.tsx";
import { readableBy, reportQueryOf, withZone } from "./report-query.ts";
import { type Figure, ReportTable } from "./report-table.tsx";
import { SavedReports } from "./saved-reports.tsx";
import type { ReportsSearch } from "./search.ts";
import { useReport } from "./use-report.ts";
import { reportWords } from "./words.ts";
import "./reports.css";

const route = getRouteApi("/shell/reports");

/** What of the address chooses no rows. */
const shape = ["zone", "time", "by", "compare", "orderBy", "order", "figure"] satisfies (keyof ReportsSearch)[];

/** Figures of any range and zone, split, compared and ordered; the CSV file is the same report. */
export function ReportsScreen() {
  const words = useWords(reportWords);
  const person = usePerson();
  const { botIds, advertiserId } = person;
  const search = readableBy(person, route.useSearch());
  const navigate = route.useNavigate();
  const { dateTime, date } = useFormats();
  useEffect(() => {
    // The address may be passed on as it is.
    if (search.zone === undefined) void navigate({ search: withZone, replace: true });
  }, [search.zone, navigate]);
  // Publishers and advertisers have reports of what is theirs.
  const own = { botId: search.bot ?? botIds[0], advertiser: advertiserId ?? undefined };
  const query = { ...reportQueryOf(search), ...own };
  const report = useReport(query);
  const isFiltered = [search.from, search.to, search.bot, search.campaign].some((value) => value !== undefined);
  const showFigure = (figure: Figure) => void navigate({ search: { ...search, figure }, replace: true });
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
      <SavedReports search={search} />
      <ReportFilters search={search} />
      <AnswerView query={report} rows={8}>
        {(answer) => (
          <>
            <p className="report-note secondary">
              {answer.comparison &&
                `${words.comparedWith({ from: date(answer.comparison.from), to: date(new Date(answer.comparison.to.getTime() - 1)) })} · `}
              {answer.countedUntil && words.countedUntil(dateTime(answer.countedUntil))}
            </p>
            {answer.rows.length === 0 ? (
              <EmptyState action={isFiltered && <ShowAll keep={shape} />}>{words.none}</EmptyState>
            ) : (
              <>
                {answer.next === null ? (
                  <ReportChart report={answer} search={search} onFigure={showFigure} />
                ) : (
                  <p className="report-note secondary">{words.noChart}</p>
                )}
                <ReportTable report={answer} search={search} />
              </>
            )}
          </>
        )}
      </AnswerView>
    </Page>
  );
}
