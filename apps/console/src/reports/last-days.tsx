import { dayOf, daysLater } from "@intermission/operator-api/days-in-zone";
import { reportQueryOf, zoneOf } from "@intermission/operator-api/report-address";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { usePerson } from "../session/use-session.ts";
import { loadWords } from "../words/catalog.ts";
import { useWords } from "../words/word-table.ts";
import { ReportChart } from "./report-chart.tsx";
import type { ReportsSearch } from "./search.ts";
import { useReport } from "./use-report.ts";
import { reportWords } from "./words.ts";
import "./reports.css";

const overviewWords = loadWords("overview");
const DAYS = 14;

interface LastDaysProps {
  bot?: string | undefined;
  campaign?: string | undefined;
}

/** A chart of the last two weeks, and the way to its report. Without any figures there is none. */
export function LastDays({ bot, campaign }: LastDaysProps) {
  const words = useWords(overviewWords);
  const names = useWords(reportWords).figures;
  const { advertiserId } = usePerson();
  const [search, setSearch] = useState<ReportsSearch>(() => {
    const today = dayOf(zoneOf({}), new Date());
    return { from: daysLater(today, 1 - DAYS), to: today };
  });
  const own = { botId: bot, campaignId: campaign, advertiser: advertiserId ?? undefined };
  const { data: report } = useReport({ ...reportQueryOf(search), ...own });
  if (report === undefined || (report.total.requests === 0 && report.total.clicks === 0)) return null;
  return (
    <section aria-labelledby="last-days">
      <div className="list-head">
        <h2 id="last-days">{words.lastDays}</h2>
        <Link to="/reports" search={{ ...search, bot, campaign }} className="secondary">
          {words.report}
        </Link>
      </div>
      <ReportChart
        report={report}
        search={search}
        names={names}
        onFigure={(figure) => setSearch({ ...search, figure })}
      />
    </section>
  );
}
