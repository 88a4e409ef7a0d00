import { statement } from "@intermission/postgres/open-database";
import type { AdDatabase } from "../ad-database.ts";

const select = statement<{ campaignId: string }>(
  "direct-links.clicked-campaign",
  `select campaign_id as "campaignId" from events
   where bot_id = $1 and code = $2 and event = 'direct_link' and price_micros is not null`,
);

/** The campaign that paid for a code's click; undefined where none did, and for a tester's click, which is free. */
export async function findClickedCampaign(
  database: AdDatabase,
  { botId, code }: { botId: string; code: string },
): Promise<string | undefined> {
  return (await database.run(select, [botId, code]))[0]?.campaignId;
}
