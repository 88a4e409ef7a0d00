import { adReportReason } from "@intermission/ad-core/wire-fields";
import type { AdReport, AdReportsPage } from "@intermission/operator-api/creatives";
import type { Database, Statement } from "@intermission/postgres/open-database";
import { z } from "zod";

type AdReportFilter = { creativeId?: string | undefined; botId?: string | undefined };

/** Where a page ended. All pages of a list count the reports up to the same moment, so that new ones reorder nothing. */
interface Place {
  until: Date;
  reports: number;
  creativeId: string;
  reason: string;
}

const cursorForm = z.tuple([z.int().min(0).max(8.64e15), z.int().min(1), z.string().max(64), adReportReason]);

/** Opaque to callers: base64url. */
function encodeCursor({ until, reports, creativeId, reason }: Place): string {
  return Buffer.from(JSON.stringify([until.getTime(), reports, creativeId, reason])).toString("base64url");
}

/** The place, or `undefined` for text that `encodeCursor` cannot return. Never throws. */
function decodeCursor(text: string): Place | undefined {
  try {
    const values: unknown = JSON.parse(Buffer.from(text, "base64url").toString());
    const [until, reports, creativeId, reason] = cursorForm.parse(values);
    // PostgreSQL stores no zero characters.
    return creativeId.includes("\0") ? undefined : { until: new Date(until), reports, creativeId, reason };
  } catch {
    return undefined;
  }
}

// Unnamed, since an operator runs it rarely, and its best index depends on the filter.
const list: Statement<AdReport> = {
  name: "",
  text: `select creative_id as "creativeId", reason, count(*) as reports,
      count(distinct (bot_id, user_id)) as users, max(reported_at) as "latestAt"
    from ad_reports
    where ($1::text is null or creative_id = $1) and ($2::text is null or bot_id = $2) and reported_at <= $3
    group by creative_id, reason
    having $4::bigint is null or count(*) < $4 or (count(*) = $4 and (creative_id, reason) > ($5, $6))
    order by count(*) desc, creative_id, reason limit $7`,
};

type ListAdReportsOutcome = { outcome: "page"; page: AdReportsPage } | { outcome: "bad-cursor" };

/** Counted by creative and reason, the most frequent first; `after` continues an earlier list of the same filter. */
export async function listAdReports(
  database: Pick<Database, "run">,
  { creativeId, botId, after, limit, now }: AdReportFilter & { after?: string | undefined; limit: number; now: Date },
): Promise<ListAdReportsOutcome> {
  const place = after === undefined ? undefined : decodeCursor(after);
  if (after !== undefined && place === undefined) return { outcome: "bad-cursor" };
  const until = place?.until ?? now;
  const from = [place?.reports, place?.creativeId, place?.reason];
  const rows = await database.run(list, [creativeId, botId, until, ...from, limit + 1]);
  const reports = rows.slice(0, limit);
  const last = reports.at(-1);
  const hasMore = rows.length > limit;
  return {
    outcome: "page",
    page: { reports, next: hasMore && last ? encodeCursor({ until, ...last }) : null, hasMore },
  };
}
