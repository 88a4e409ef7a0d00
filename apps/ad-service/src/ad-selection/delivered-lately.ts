import { statement } from "@intermission/postgres/open-database";

/** Views older than this are mostly left for good; one that ends later is honoured all the same. */
const IN_FLIGHT = "interval '15 minutes'";

export interface DeliveredLately {
  campaignId: string;
  views: number;
  clicks: number;
  spentMicros: number;
  viewsInFlight: number;
}

/** Only a campaign with a limit is asked: all its views of that time are looked at. */
const inFlight = (of: string) => `case when coalesce(${of}.total_budget_micros, ${of}.daily_budget_micros,
      ${of}.total_view_cap, ${of}.daily_view_cap) is null then 0 else (
    select count(*) from ad_sessions
    where ad_sessions.campaign_id = ${of}.campaign_id and state in ('opened', 'playing', 'watched') and not is_test
      and opened_at > $1::timestamptz - ${IN_FLIGHT}
  ) end::integer as "viewsInFlight"`;

/** What running campaigns delivered on the day of `$1`, and what is under way. Only of those with either. */
export const deliveredToday = statement<DeliveredLately>(
  "campaigns.delivered-today",
  `select * from (
     select campaigns.campaign_id as "campaignId", coalesce(views, 0) as views, coalesce(clicks, 0) as clicks,
       coalesce(spent_micros, 0) as "spentMicros", ${inFlight("campaigns")}
     from campaigns left join lateral (
       -- Row by row: joined as a whole, all days there ever were were read for one of each campaign.
       select * from campaign_days where campaign_days.campaign_id = campaigns.campaign_id
         and day = ($1::timestamptz at time zone 'utc')::date offset 0
     ) as today on true
     where status = 'active'
   ) as lately where views + clicks + "viewsInFlight" > 0`,
);

/** The same of one campaign, `$2`, and what it delivered on the days before. */
export const deliveredBy = statement<
  DeliveredLately & { earlierViews: number; earlierClicks: number; earlierSpentMicros: number }
>(
  "campaigns.delivered-by",
  `select $2::text as "campaignId",
     coalesce(sum(views) filter (where is_today), 0)::bigint as views,
     coalesce(sum(clicks) filter (where is_today), 0)::bigint as clicks,
     coalesce(sum(spent_micros) filter (where is_today), 0)::bigint as "spentMicros",
     coalesce(sum(views) filter (where not is_today), 0)::bigint as "earlierViews",
     coalesce(sum(clicks) filter (where not is_today), 0)::bigint as "earlierClicks",
     coalesce(sum(spent_micros) filter (where not is_today), 0)::bigint as "earlierSpentMicros",
     (select ${inFlight("campaigns")} from campaigns where campaigns.campaign_id = $2)
   from (
     select *, day = ($1::timestamptz at time zone 'utc')::date as is_today from campaign_days where campaign_id = $2
   ) as days`,
);
