import type { AdReportReason } from "@intermission/ad-core/wire-fields";
import { type Database, statement } from "@intermission/postgres/open-database";
import { reportCreative } from "../demand/bought-creatives.ts";
import { readVastAd } from "../vast/trackers.ts";
import { readView } from "./ad-view.ts";
import { isSessionToken } from "./session-token.ts";

export type ReportAdOutcome = { outcome: "recorded" | "known" } | { outcome: "unknown" } | { outcome: "superseded" };

const insert = statement<{ creativeId: string }>(
  "ad-reports.insert",
  `insert into ad_reports (bot_id, user_id, creative_id, day, reason, campaign_id, view_id, reported_at)
   values ($1, $2, $3, ($4::timestamptz at time zone 'UTC')::date, $5, $6, $7, $4)
   on conflict (user_id, bot_id, creative_id, day) do nothing
   returning creative_id as "creativeId"`,
);

/**
 * Records a viewer's objection to the ad of a view, once for each user, creative and day. The view goes on, and a view
 * that is over may be reported too. A tester's report is answered, and not counted.
 */
export async function reportAd(
  database: Database,
  call: { botId: string; viewId: string; token: string; reason: AdReportReason; now: Date },
): Promise<ReportAdOutcome> {
  const view = await readView(database, call);
  if (!view) return { outcome: "unknown" };
  if (!isSessionToken(call.token, view.tokenHash)) return { outcome: view.openings > 1 ? "superseded" : "unknown" };
  if (view.isTest) return { outcome: "recorded" };
  const { botId, userId, creativeId, campaignId, viewId } = view;
  const values = [botId, userId, creativeId, call.now, call.reason, campaignId, viewId];
  // All ads of a buyer share one creative of its campaign, so reports are counted by bought creative.
  const { boughtCreativeId } = (view.isVast ? await readVastAd(database, view) : undefined)?.bought ?? {};
  return database.transaction(async (tx) => {
    const [inserted] = await tx.run(insert, values);
    const isCounted =
      boughtCreativeId !== undefined && (await reportCreative(tx, { boughtCreativeId, botId, userId, now: call.now }));
    return { outcome: inserted || isCounted ? "recorded" : "known" };
  });
}
