import { statement, type Transaction } from "@intermission/postgres/open-database";
import type { AdView } from "./ad-view.ts";

const record = statement<never>(
  "views.record-impression",
  `with shown as (
    insert into bought_impressions (bot_id, view_id, opened_at, campaign_id, price_micros, shown_at)
    values ($1, $2, $3, $4, $5, $6)
    on conflict do nothing returning campaign_id, price_micros, shown_at
  )
  insert into campaign_days (campaign_id, day, shown, shown_micros)
  select campaign_id, (shown_at at time zone 'utc')::date, 1, price_micros from shown
  on conflict (campaign_id, day) do update set
    shown = campaign_days.shown + excluded.shown,
    shown_micros = campaign_days.shown_micros + excluded.shown_micros`,
);

/**
 * Records that a bought ad's first picture was shown: from now on its buyer owes the price. Call it in the transaction that stores
 * the start of the view; a view is recorded once.
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
  }: Pick<AdView, "botId" | "viewId" | "openedAt" | "campaignId"> & { priceMicros: number; now: Date },
): Promise<void> {
  await tx.run(record, [botId, viewId, openedAt, campaignId, priceMicros, now]);
}
