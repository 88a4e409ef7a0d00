/**
 * SQL of a CTE that adds priced events to the sums of their campaigns' UTC days, in the statement that creates the events: a
 * campaign's spend always equals the sum of its events. `from` names a CTE with campaign_id, event, price_micros and
 * occurred_at. Updates each campaign once per batch, in the order of the ids, so that batches do not deadlock.
 */
export function addToCampaignDays(from: string): string {
  return `
    insert into campaign_days (campaign_id, day, views, clicks, spent_micros)
    select campaign_id, (occurred_at at time zone 'utc')::date, count(*) filter (where event = 'rewarded'),
      count(*) filter (where event = 'direct_link'), sum(price_micros)
    from ${from} group by 1, 2 order by 1, 2
    on conflict (campaign_id, day) do update set
      views = campaign_days.views + excluded.views,
      clicks = campaign_days.clicks + excluded.clicks,
      spent_micros = campaign_days.spent_micros + excluded.spent_micros`;
}
