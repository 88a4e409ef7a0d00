import { type Database, statement } from "@intermission/postgres/open-database";

/** Long enough to compare a month with the same one of the year before, row by row. */
const KEPT = "interval '13 months'";
/** Small enough not to delay other statements. */
const MOST_PRUNED_AT_ONCE = 1000;

const olderThanKept = (moment: string) => `${moment} < $1::timestamptz - ${KEPT}`;
const oldRows = {
  ad_requests: olderThanKept("occurred_at"),
  ad_milestones: olderThanKept("occurred_at"),
  ad_clicks: olderThanKept("occurred_at"),
  withheld_clicks: olderThanKept("occurred_at"),
  click_refusals: olderThanKept("hour"),
  conversions: olderThanKept("occurred_at"),
  // Limits read the rows of today and yesterday (UTC).
  address_days: "day < ($1::timestamptz at time zone 'utc')::date - 1",
  network_days: "day < ($1::timestamptz at time zone 'utc')::date - 1",
};

const prunes = Object.entries(oldRows).map(([table, isOld]) =>
  statement<never>(
    `statistics.prune-${table}`,
    `delete from ${table} where ctid = any (array(
       select ctid from ${table} where ${isOld}
       limit ${MOST_PRUNED_AT_ONCE} for update skip locked
     ))
     returning 1`,
  ),
);

/*
 * Blanks the visitor's data in click events; the events stay. Event ids begin with their time (UUIDv7), so each batch walks
 * the primary key from where the last one ended: no row is read twice, and inserts need not maintain an index for pruning.
 */
const blankVisitors = statement<never>(
  "statistics.blank-visitors",
  `with place as (select event_id from events_blanked for update skip locked),
  batch as materialized (
    select place_of_row, events.event_id, event from place cross join lateral (
      select ctid as place_of_row, event_id, event from events where events.event_id > place.event_id and events.event_id < (
        select 'evt_' || substr(hex, 1, 8) || '-' || substr(hex, 9)
        from lpad(to_hex((extract(epoch from $1::timestamptz - ${KEPT}) * 1000)::bigint), 12, '0') as hex
      )
      order by events.event_id limit ${MOST_PRUNED_AT_ONCE}
    ) as events
  ),
  blanked as (
    update events set user_agent = null, address_hash = null, network_hash = null
    where ctid = any (array(select place_of_row from batch where event = 'direct_link'))
  ),
  moved as (
    update events_blanked set event_id = (select max(event_id) from batch) where (select count(*) from batch) > 0
  )
  select 1 from batch`,
);

/** Deletes one small batch of each kind of rows that are no longer needed; the sums of facts stay. */
export async function pruneFacts(
  database: Pick<Database, "run">,
  { now }: { now: Date },
): Promise<{ hasMore: boolean }> {
  let hasMore = false;
  for (const prune of [...prunes, blankVisitors])
    hasMore = (await database.run(prune, [now])).length >= MOST_PRUNED_AT_ONCE || hasMore;
  return { hasMore };
}
