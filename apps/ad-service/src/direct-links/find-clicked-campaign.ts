import { statement } from "@intermission/postgres/open-database";
import type { AdDatabase } from "../ad-database.ts";

// A charge has the id of the event that it was made with.
const select = statement<{ campaignId: string }>(
  "direct-links.clicked-campaign",
  `select campaign_id as "campaignId" from charges where charge_id =
     (select event_id from events where bot_id = $1 and code = $2 and event = 'direct_link')`,
);

/** The campaign that paid for a code's click; undefined where none did, and for a tester's click, which is free. */
export async function findClickedCampaign(
  database: AdDatabase,
  { botId, code }: { botId: string; code: string },
): Promise<string | undefined> {
  return (await database.run(select, [botId, code]))[0]?.campaignId;
}
