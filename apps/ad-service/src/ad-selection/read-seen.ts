import { statement } from "@intermission/postgres/open-database";
import type { AdTransaction } from "../ad-database.ts";

/** Enough for the largest cap per user of a few campaigns; a user who saw more is over each of them. */
const MOST = 5000;

const seen = statement<{ campaignId: string; at: Date }>(
  "campaigns.seen-by-user",
  `(select campaign_id as "campaignId", occurred_at as at from events
    where bot_id = $1 and user_id = $2 and occurred_at > $3 and price_micros is not null order by occurred_at desc limit ${MOST})
   union all
   (select campaign_id, opened_at from ad_sessions
    where bot_id = $1 and user_id = $2 and opened_at > $3 and state in ('playing', 'watched', 'held')
    order by opened_at desc limit ${MOST})`,
);

/** When a bot's user was shown or followed ads, by campaign, back to a moment; views under way among them. */
export async function readSeen(
  database: AdTransaction,
  { botId, userId, since }: { botId: string; userId: string; since: Date },
): Promise<Map<string, Date[]>> {
  const byCampaign = new Map<string, Date[]>();
  for (const { campaignId, at } of await database.run(seen, [botId, userId, since])) {
    const known = byCampaign.get(campaignId);
    if (known) known.push(at);
    else byCampaign.set(campaignId, [at]);
  }
  return byCampaign;
}
