import { statement, type Transaction } from "@intermission/postgres/open-database";
import type { DeliveryMode } from "../bots/bots.ts";
import { type ClaimedEvent, claimedEventOf, enqueueWebhook, type MadeEvents } from "../deliveries/enqueue-webhook.ts";
import { clickRowOf, clickRows, type JudgedClick } from "./click-rows.ts";

/** As many times of an address's clicks as its limits need. */
const MAX_ADDRESS_CLICKS = 25;
const MAX_DEVICES = 100;
const slots = `$${clickRows.parameters.length + 1}::integer`;

/** `written`: the visits at `positions`; `claimed`: the event of the visit at `position`; `waiting`: events wait for the loop. */
interface Row {
  kind: "written" | "claimed" | "waiting";
  positions: number[] | null;
  position: number | null;
  url: string | null;
  deliveryMode: DeliveryMode | null;
}

/*
 * What few visits need is done by functions of `migrations/0004-clicks.sql`: the start of a plan takes as long as ten visits, by
 * its tables, partitions and columns, also where it has no row to write. PostgreSQL calls a function only if the final select
 * reads its result, which that select then filters out; `having` leaves it out where there is no row.
 */
const rareRecords = `
    select add_network_users(array_agg(bot_id), array_agg(network_hash), array_agg(moment), array_agg(network_users),
      array_agg(network_minute), array_agg(network_minute_users))
    from written where network_users is not null having count(*) > 0
    union all
    select move_views(array_agg(bot_id), array_agg(code), array_agg(replacement_code), array_agg(moment))
    from written where replacement_code is not null and (refusal is null or refusal = 'held') having count(*) > 0
    union all
    select record_unpaid_clicks(array_agg(bot_id), array_agg(code), array_agg(event_id), array_agg(user_id),
      array_agg(reference), array_agg(moment), array_agg(audience), array_agg(campaign_id), array_agg(refusal),
      array_agg(array_to_string(suspicions, ' ')), array_agg(user_agent), array_agg(address_hash), array_agg(network_hash))
    from judged
    where refusal is not null and (decisions is null or position in (select position from written))
    having count(*) > 0 offset 0`;

/*
 * Writes what was decided about visits, no two of one address, and at most one that leads to its ad of each viewer.
 *
 * A visit that leads to its ad is written only if the rows of its viewer and its address are still the ones that were read
 * (`viewers.decisions`, `address_days.counted`): its other facts change only together with these. A known
 * viewer's row is locked and compared before anything is written. A viewer without a row cannot be locked: if another node
 * inserts it meanwhile, this visit has already been counted for its address, which has then counted one too many. Such a
 * viewer's `decisions` is 1 here, which no stored row has.
 *
 * Locks are taken in this order: known viewers, addresses, new viewers, networks, counts of refusals, days of campaigns.
 * Deadlocks are rare and retried. The clicks of testers count towards no limit of others, so not for their address.
 *
 * "case" around a comparison with another part keeps the planner on a hashed subplan.
 */
const record = statement<Row>(
  "clicks.record",
  `with judged as materialized (${clickRows.table}),
  leading_clicks as materialized (
    select * from judged where decisions is not null and case when decisions > 1 then (bot_id, user_id) in (
      select viewers.bot_id, viewers.user_id from judged
      join viewers on viewers.bot_id = judged.bot_id and viewers.user_id = judged.user_id
      where judged.decisions > 1 and viewers.decisions = judged.decisions - 1
      order by viewers.bot_id, viewers.user_id for update of viewers
    ) else true end
  ),
  counted_addresses as (
    insert into address_days (day, address_hash, clicks, counted, tapped, devices, viewers)
    select (moment at time zone 'utc')::date, address_hash, array[moment], counted, tapped, array[device::bigint],
      array[viewer::bigint]
    from leading_clicks where not is_test order by 1, 2
    on conflict (day, address_hash) do update set
      clicks = (excluded.clicks || address_days.clicks)[1 : ${MAX_ADDRESS_CLICKS}],
      viewers = (excluded.viewers || address_days.viewers)[1 : ${MAX_ADDRESS_CLICKS}],
      counted = excluded.counted, tapped = excluded.tapped,
      devices = case when excluded.devices[1] = any (address_days.devices) then address_days.devices
        else (excluded.devices || address_days.devices)[1 : ${MAX_DEVICES}] end
    where address_days.counted = excluded.counted - 1
    returning address_hash
  ),
  counted_viewers as (
    insert into viewers (bot_id, user_id, day, earned_today, last_earned_at, decisions)
    select bot_id, user_id, viewer_day::date, earned_today, last_earned_at,
      case when decisions > 1 then decisions else first_decision() end
    from leading_clicks where case when is_test or address_hash in (select * from counted_addresses) then true end
    order by bot_id, user_id
    on conflict (user_id, bot_id) do update set day = excluded.day, earned_today = excluded.earned_today,
      last_earned_at = excluded.last_earned_at, decisions = excluded.decisions
    where viewers.decisions = excluded.decisions - 1
    returning bot_id, user_id
  ),
  written as materialized (
    select * from leading_clicks where case when (bot_id, user_id) in (select * from counted_viewers) then true end
  ),
  paid as materialized (
    select bot_id, event_id, 'direct_link' as event, user_id, code, reference, is_test, campaign_id,
      null::text as creative_id, price_micros, revenue_micros, audience, moment as occurred_at, body, traceparent, suspicions,
      case when suspicions is not null then user_agent end as user_agent,
      case when suspicions is not null then address_hash end as address_hash,
      case when suspicions is not null then network_hash end as network_hash, position
    from written where refusal is null
  ),
  ${enqueueWebhook({ from: "paid", slots, isTraced: true, existenceChecked: true, more: ["audience", "suspicions", "user_agent", "address_hash", "network_hash"] })}
  select 'written' as kind, array_agg(position) as positions, null::integer as position, null as url, null as "deliveryMode"
  from written having count(*) > 0
  union all
  select 'claimed', null, position, url, delivery_mode from claimed_events join paid using (event_id)
  union all
  select 'waiting', null, null, null, null where exists (select from enqueued_deliveries where state = 'waiting')
  union all
  select 'waiting', null, null, null, null from (${rareRecords}) as records (recorded) where recorded is null`,
);

/**
 * Writes verdicts in one statement that commits alone. Returns the positions of the visits that lead to their ad and were
 * written; those that are missing must be judged again. Of the other visits only the refusal is counted.
 */
export async function recordClicks(
  database: Transaction,
  judged: readonly JudgedClick[],
  options: { slots: number },
): Promise<MadeEvents<ReadonlySet<number>>> {
  const result = new Set<number>();
  const claimed: ClaimedEvent[] = [];
  let areWaiting = false;
  const values = judged.map(clickRowOf);
  for (const row of await database.run(record, [...clickRows.values(values), options.slots])) {
    switch (row.kind) {
      case "written":
        for (const position of row.positions ?? []) result.add(position);
        break;
      case "claimed":
        claimed.push(claimedEventOf(row, values[row.position ?? -1]));
        break;
      case "waiting":
        areWaiting = true;
        break;
      default:
        row.kind satisfies never;
    }
  }
  return { result, areWaiting, claimed };
}

/**
 * Whether a click could not be written because its code has earned meanwhile. Its viewer was erased after the facts were read: the
 * row that the statement compares was made by the paid click and removed by the erasure, and so looks as it was read.
 */
export function hasEarnedMeanwhile(error: unknown): boolean {
  return (
    error instanceof Error &&
    "constraint" in error &&
    // Each partition has its own, as `events_2026_10_code_bot_id_event_key`.
    String(error.constraint).includes("_code_bot_id_event_")
  );
}
