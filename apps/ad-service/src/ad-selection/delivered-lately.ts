import { statement } from "@intermission/postgres/open-database";

/** Most views older than this were abandoned. A view that ends later is still counted and paid. */
const IN_FLIGHT = "interval '15 minutes'";

export interface DeliveredLately {
  campaignId: string;
  views: number;
  clicks: number;
  spentMicros: number;
  viewsInFlight: number;
}

/** Counts only for campaigns with a limit, because it reads all their views of the interval. */
const inFlight = (of: string) => `case when coalesce(${of}.total_budget_micros, ${of}.daily_budget_micros,
      ${of}.total_view_cap, ${of}.daily_view_cap) is null then 0 else (
    select count(*) from ad_sessions
    where ad_sessions.campaign_id = ${of}.campaign_id and state in ('opened', 'playing', 'watched') and not is_test
      and opened_at > $1::timestamptz - ${IN_FLIGHT}
  ) end::integer as "viewsInFlight"`;

/** What running campaigns delivered on the UTC day of `$1`, and their views in flight. Omits campaigns with neither. */
export const deliveredToday = statement<DeliveredLately>(
  "campaigns.delivered-today",
  `select * from (
     select campaigns.campaign_id as "campaignId", coalesce(views, 0) as views, coalesce(clicks, 0) as clicks,
       coalesce(spent_micros, 0) as "spentMicros", ${inFlight("campaigns")}
     from campaigns left join lateral (
       -- Lateral with "offset 0" looks up one row per campaign; a plain join read all days of all time.
       select * from campaign_days where campaign_days.campaign_id = campaigns.campaign_id
         and day = ($1::timestamptz at time zone 'utc')::date offset 0
     ) as today on true
     where status = 'active'
   ) as lately where views + clicks + "viewsInFlight" > 0`,
);

/** The same for one campaign, `$2`, and what it delivered on earlier days. */
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
