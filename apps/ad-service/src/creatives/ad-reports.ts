import { adReportReason } from "@intermission/ad-core/player-api";
import { type Database, type Statement, statement } from "@intermission/postgres/open-database";
import { z } from "zod";

/** Viewers' objections to a creative, for one reason. */
const adReport = z.object({
  creativeId: z.string(),
  reason: adReportReason,
  reports: z.number().describe("At most one of each user and day."),
  users: z.number(),
  latestAt: z.date(),
});
export type AdReport = z.infer<typeof adReport>;
export const adReports = z.array(adReport);

const counts = (where: string) => `select creative_id as "creativeId", reason, count(*) as reports,
    count(distinct (bot_id, user_id)) as users, max(reported_at) as "latestAt"
  from ad_reports ${where} group by creative_id, reason order by count(*) desc, creative_id, reason limit $1`;
const listOfCreative = statement<AdReport>("creatives.reports-of-one", counts("where creative_id = $2"));
/** Unnamed, so planned each time: this rare statement reads the whole table. */
const listAll: Statement<AdReport> = { name: "", text: counts("") };

/** Counted by creative and reason, the most frequent first. */
export async function listAdReports(
  database: Database,
  { creativeId, limit }: { creativeId?: string | undefined; limit: number },
): Promise<AdReport[]> {
  if (creativeId === undefined) return database.run(listAll, [limit]);
  return database.run(listOfCreative, [limit, creativeId]);
}
