import { statement, type Transaction } from "@intermission/postgres/open-database";
import type { AdView } from "./ad-view.ts";

const record = statement<never>(
  "views.record-impression",
  `with shown as (
    insert into bought_impressions (bot_id, view_id, opened_at, campaign_id, price_micros, shown_at, revenue_micros)
    values ($1, $2, $3, $4, $5, $6, coalesce($7, 0))
    on conflict do nothing returning campaign_id, price_micros, shown_at
  )
  insert into campaign_days (campaign_id, day, shown, shown_micros, views, spent_micros)
  select campaign_id, (shown_at at time zone 'utc')::date, 1, price_micros, case when $7::bigint is null then 0 else 1 end,
    case when $7::bigint is null then 0 else price_micros end from shown
  on conflict (campaign_id, day) do update set
    views = campaign_days.views + excluded.views,
    spent_micros = campaign_days.spent_micros + excluded.spent_micros,
    shown = campaign_days.shown + excluded.shown,
    shown_micros = campaign_days.shown_micros + excluded.shown_micros`,
);

/**
 * Records that a bought ad's first picture was shown: from now on its buyer owes the price. Call it in the transaction that stores
 * the start of the view; a view is recorded once. `paid`: it is complete as well, and pays the publisher.
 */
export async function recordImpression(
  tx: Transaction,
  {
    botId,
    viewId,
    openedAt,
    campaignId,
    priceMicros,
    now,
    paid,
  }: Pick<AdView, "botId" | "viewId" | "openedAt" | "campaignId"> & {
    priceMicros: number;
    now: Date;
    paid?: { revenueMicros: number };
  },
): Promise<void> {
  await tx.run(record, [botId, viewId, openedAt, campaignId, priceMicros, now, paid?.revenueMicros]);
}
