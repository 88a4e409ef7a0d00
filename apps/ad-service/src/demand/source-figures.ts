import { type BidOutcome, bidRates } from "@intermission/operator-api/bid-outcomes";
import type { SourceFigures, SourceKind } from "@intermission/operator-api/buyers";
import { type Database, statement } from "@intermission/postgres/open-database";
import { jsonInteger } from "@intermission/server/exact-json";

const DAYS = 7;
const DAY_MS = 86_400_000;

interface SourceRow {
  kind: SourceKind;
  buyerId: string | null;
  name: string | null;
  shown: number;
  revenue: string;
}

// A campaign is one of tags where it has nothing but tags. Of each campaign its few days are looked up.
const readRevenue = statement<SourceRow>(
  "demand.revenue-by-source",
  `select case when buyers.buyer_id is not null then 'buyer' when kinds.has_tags_alone then 'tags' else 'own' end as kind,
     buyers.buyer_id as "buyerId",
     (select name from advertisers where advertisers.advertiser_id = buyers.advertiser_id) as name,
     coalesce(sum(case when buyers.buyer_id is null then days.views + days.clicks else days.shown end), 0)::bigint as shown,
     coalesce(sum(case when buyers.buyer_id is null then days.spent_micros else days.shown_micros end), 0)::text as revenue
   from campaigns left join buyers using (campaign_id)
   cross join lateral (
     select coalesce(bool_and(kind = 'vast'), false) as has_tags_alone
     from campaign_creatives join creatives using (creative_id) where campaign_creatives.campaign_id = campaigns.campaign_id
   ) as kinds
   left join lateral (
     select * from campaign_days where campaign_days.campaign_id = campaigns.campaign_id and day >= $1::date offset 0
   ) as days on true
   group by 1, 2, 3`,
);

const readOutcomes = statement<{ buyerId: string; outcome: BidOutcome; count: number }>(
  "demand.outcomes-by-buyer",
  `select buyer_id as "buyerId", outcome, count from buyers cross join lateral (
     select outcome, count(*)::bigint as count from opening_offers
     where source = buyer_id and occurred_at >= $1 group by outcome
   ) as counted`,
);

/** What each source of ads brought in the last seven days (UTC), the one with the greatest revenue first. */
export async function readSources(
  database: Pick<Database, "run">,
  now: Date,
): Promise<{ since: string; sources: SourceFigures[] }> {
  const since = new Date(now.getTime() - (DAYS - 1) * DAY_MS).toISOString().slice(0, 10);
  const outcomes = Map.groupBy(await database.run(readOutcomes, [`${since}T00:00:00Z`]), ({ buyerId }) => buyerId);
  const rows = await database.run(readRevenue, [since]);
  const sources = rows.map(({ revenue, ...row }): SourceFigures => {
    const rates = bidRates(row.buyerId === null ? [] : (outcomes.get(row.buyerId) ?? []));
    return { ...row, ...rates, revenueMicros: jsonInteger(BigInt(revenue)) };
  });
  return {
    since,
    sources: sources
      .filter(({ kind, shown }) => kind === "buyer" || shown > 0)
      .toSorted((a, b) => b.revenueMicros - a.revenueMicros || b.requests - a.requests),
  };
}
