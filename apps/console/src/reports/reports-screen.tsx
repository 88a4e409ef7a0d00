import type { ReportPart } from "@intermission/operator-api/report-address";
import { readableBy, reportQueryOf } from "@intermission/operator-api/report-address";
import { getRouteApi } from "@tanstack/react-router";
import { lazy, type ReactNode, Suspense, useEffect, useId, useState } from "react";
import { usePerson } from "../session/use-session.ts";
import { AnswerView, AsOf, EmptyState, ShowAll } from "../ui/answer-view.tsx";
import { Icon } from "../ui/icon.tsx";
import { Page } from "../ui/page.tsx";
import { uiWords } from "../ui/words.ts";
import { useFormats } from "../words/formats.ts";
import { useWords } from "../words/word-table.ts";
import { keptView, withView } from "./columns.ts";
import type { Figure, Report } from "./figures.ts";
import { ReportChart } from "./report-chart.tsx";
import { ReportFilters } from "./report-filters.tsx";
import { ReportLimits } from "./report-limits.tsx";
import { ReportTable } from "./report-table.tsx";
import type { ReportViewProps } from "./report-view.tsx";
import { SavedReports } from "./saved-reports.tsx";
import type { ReportsSearch } from "./search.ts";
import { type ReportQuery, useReport } from "./use-report.ts";
import { useFigureNames, viewWords } from "./view-words.ts";
import { reportWords } from "./words.ts";
import "./reports.css";

const route = getRouteApi("/shell/reports");

const ReportView = lazy(async () => ({ default: (await import("./report-view.tsx")).ReportView }));
const ReportFunnel = lazy(async () => ({ default: (await import("./report-funnel.tsx")).ReportFunnel }));
const ReportUsers = lazy(async () => ({ default: (await import("./report-users.tsx")).ReportUsers }));

/** What of the address chooses no rows. */
const shape = [
  "zone",
  "time",
  "by",
  "also",
  "compare",
  "columns",
  "orderBy",
  "order",
  "figure",
] satisfies (keyof ReportsSearch)[];

/** Figures of any range and zone, split, compared and ordered; the CSV file is the same report. */
export function ReportsScreen() {
  const words = useWords(reportWords);
  const person = usePerson();
  const { botIds, advertiserId } = person;
  const search = readableBy(person, route.useSearch());
  const navigate = route.useNavigate();
  const [isPlainCsv, setPlainCsv] = useState(() => keptView().isPlainCsv ?? false);
  const isWhole = search.zone !== undefined && search.columns !== undefined;
  useEffect(() => {
    // The address may be passed on as it is.
    if (!isWhole) void navigate({ search: withView, replace: true });
  }, [isWhole, navigate]);
  // Publishers and advertisers have reports of what is theirs.
  const own = { botId: search.bot ?? botIds[0], ...(advertiserId !== null && { advertiser: advertiserId }) };
  const query = { ...reportQueryOf(search), ...own };
  const report = useReport(query);
  const change = (changes: Partial<ReportsSearch>) =>
    void navigate({ search: { ...search, ...changes }, replace: true, resetScroll: false });
  const written = Object.entries({ ...query, ...(isPlainCsv && { heading: "no" }) });
  const csv = new URLSearchParams(written.filter((entry): entry is [string, string] => !!entry[1]));
  return (
    <Page
      title={words.title}
      aside={
        <>
          {report.data && <AsOf at={report.dataUpdatedAt} />}
          <a className="button button-plain" href={`/operator/v1/stats.csv?${csv}`} download>
            {words.csv}
          </a>
        </>
      }
    >
      <SavedReports search={search} />
      <ReportFilters search={search} />
      <ReportLimits search={search} names={report.data?.of} onRemove={(object) => change({ [object]: undefined })} />
      <AnswerView query={report} rows={8}>
        {(answer) => (
          <>
            <ReportNote report={answer}>
              <ViewButton
                report={answer}
                search={search}
                onChange={change}
                isPlainCsv={isPlainCsv}
                onPlainCsv={setPlainCsv}
              />
            </ReportNote>
            <ReportBody report={answer} search={search} query={query} onFigure={(figure) => change({ figure })} />
          </>
        )}
      </AnswerView>
    </Page>
  );
}

function ReportNote({ report: { comparison, countedUntil }, children }: { report: Report; children: ReactNode }) {
  const words = useWords(reportWords);
  const { dateTime, date } = useFormats();
  return (
    <div className="list-head">
      <span className="small secondary">
        {comparison &&
          `${words.comparedWith({ from: date(comparison.from), to: date(new Date(comparison.to.getTime() - 1)) })} · `}
        {countedUntil && words.countedUntil(dateTime(countedUntil))}
      </span>
      <span className="list-actions">{children}</span>
    </div>
  );
}

function ViewButton(props: ReportViewProps) {
  const { view } = useWords(uiWords);
  const id = useId();
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button type="button" className="button button-plain" popoverTarget={id}>
        <Icon name="columns" />
        {view}
      </button>
      <div
        id={id}
        popover="auto"
        className="actions-menu list-view"
        onBeforeToggle={({ newState }) => setOpen(newState === "open")}
      >
        <Suspense>{isOpen && <ReportView {...props} />}</Suspense>
      </div>
    </>
  );
}

interface ReportBodyProps {
  report: Report;
  search: ReportsSearch;
  query: ReportQuery;
  onFigure: (figure: Figure | ReportPart) => void;
}

function ReportBody({ report, search, query, onFigure }: ReportBodyProps) {
  const { none, noChart } = useWords(reportWords);
  const { parts } = useWords(viewWords);
  const names = useFigureNames();
  const isFiltered = Object.keys(search).some((name) => search[name as keyof ReportsSearch] && !isShape(name));
  if (report.rows.length === 0) return <EmptyState action={isFiltered && <ShowAll keep={shape} />}>{none}</EmptyState>;
  const loaded = (part: ReactNode) => <Suspense fallback={<div className="plot" />}>{part}</Suspense>;
  const shownParts: Readonly<Record<ReportPart, ReactNode>> = {
    funnel: loaded(<ReportFunnel report={report} search={search} />),
    users: loaded(<ReportUsers query={query} currency={report.currency} />),
  };
  const isPart = search.figure !== undefined && Object.hasOwn(shownParts, search.figure);
  return (
    <>
      {report.next === null || isPart ? (
        <ReportChart
          report={report}
          search={search}
          names={names}
          onFigure={onFigure}
          parts={(Object.keys(shownParts) as ReportPart[]).map((part) => ({
            part,
            name: parts[part],
            shown: shownParts[part],
          }))}
        />
      ) : (
        <p className="report-note secondary">{noChart}</p>
      )}
      <ReportTable report={report} search={search} />
    </>
  );
}

const isShape = (name: string) => name === "v" || shape.some((one) => one === name);
