import { statement } from "@intermission/postgres/open-database";
import type { AdTransaction } from "../ad-database.ts";

/** Enough for the largest user cap of a few campaigns; a user who saw more has reached each of them. */
const MOST = 5000;

const selectSeen = (of: { botId: string; userId: string; since: string }) => `
  (select campaign_id as "campaignId", occurred_at as at from events
   where events.bot_id = ${of.botId} and events.user_id = ${of.userId} and occurred_at > ${of.since}
     and price_micros is not null
   order by occurred_at desc limit ${MOST})
  union all
  (select campaign_id, opened_at from ad_sessions
   where ad_sessions.bot_id = ${of.botId} and ad_sessions.user_id = ${of.userId} and opened_at > ${of.since}
     and state in ('playing', 'watched', 'held')
   order by opened_at desc limit ${MOST})`;

/** SQL that returns the same as a JSON array of `{campaignId, at}`, or null. */
export function seenByUser(of: { botId: string; userId: string; since: string }): string {
  return `select json_agg(seen) from (${selectSeen(of)}) as seen`;
}

const seen = statement<{ campaignId: string; at: Date }>(
  "campaigns.seen-by-user",
  selectSeen({ botId: "$1", userId: "$2", since: "$3" }),
);

/** When a bot's user was shown or followed ads since a moment, by campaign. Includes views in flight. */
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
