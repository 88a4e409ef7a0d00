import { bidRates } from "@intermission/operator-api/bid-outcomes";
import type { BuyerResults } from "@intermission/operator-api/buyers";
import { type Database, statement } from "@intermission/postgres/open-database";
import { jsonInteger } from "@intermission/server/exact-json";

const DAY_MS = 86_400_000;
const DAYS = 7;

const readOutcomes = statement<BuyerResults["outcomes"][number]>(
  "demand.outcomes-of-buyer",
  `select outcome, count(*)::bigint as count, round(avg(took_ms))::integer as "tookMs"
   from opening_offers where source = $1 and occurred_at > $2 group by outcome order by count desc, outcome`,
);
const readConsents = statement<BuyerResults["consents"][number]>(
  "demand.consents-of-buyer",
  `select consent, count(*)::bigint as count from opening_offers
   where source = $1 and occurred_at > $2 and consent is not null group by consent order by count desc, consent`,
);
const readMoney = statement<{ shown: number; completed: number; owed: string; earned: string }>(
  "demand.money-of-buyer",
  `select coalesce(sum(shown), 0)::bigint as shown, coalesce(sum(views), 0)::bigint as completed,
     coalesce(sum(shown_micros), 0)::text as owed, coalesce(sum(spent_micros), 0)::text as earned
   from campaign_days where campaign_id = $1`,
);

/** What became of the requests to a buyer in the last seven days, and what it owes in all. */
export async function readResults(
  database: Pick<Database, "run">,
  { buyerId, campaignId, now }: { buyerId: string; campaignId: string; now: Date },
): Promise<Omit<BuyerResults, "buyerId" | "currency">> {
  const since = [buyerId, new Date(now.getTime() - DAYS * DAY_MS)];
  const outcomes = await database.run(readOutcomes, since);
  const consents = await database.run(readConsents, since);
  const [money] = await database.run(readMoney, [campaignId]);
  const { shown = 0, completed = 0, owed = "0", earned = "0" } = money ?? {};
  return {
    outcomes,
    consents,
    ...bidRates(outcomes),
    shown,
    owedMicros: jsonInteger(BigInt(owed)),
    completed,
    completedMicros: jsonInteger(BigInt(earned)),
    notCompletedMicros: jsonInteger(BigInt(owed) - BigInt(earned)),
  };
}
