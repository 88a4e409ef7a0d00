import type { BulkDecision, ClickState, ReviewFilter, SuspiciousClick } from "@intermission/operator-api/reviews";
import { type ListPage, listPage } from "@intermission/postgres/keyset";
import type { Database, Statement } from "@intermission/postgres/open-database";
import { filterConditions, filterValues, type Matching } from "./bulk-review.ts";

/** A row of the query, with whole hashes; `state` of a released click is `counted`. */
type Row = Omit<SuspiciousClick, "address" | "network"> & { addressHash: Buffer | null; networkHash: Buffer | null };

interface ClickFilter extends ReviewFilter {
  /** As the list shows it. */
  address?: string | null | undefined;
  network?: string | null | undefined;
}

const hashConditions = (table: string) => `
  and ($7::text is null or left(encode(${table}.address_hash, 'hex'), 8) = $7)
  and ($8::text is null or left(encode(${table}.network_hash, 'hex'), 8) = $8)`;

function clickFilterValues({ address = null, network = null, ...filter }: ClickFilter): unknown[] {
  return [...filterValues(filter), address, network];
}

/** Whether a click comes after the last one of an earlier page, $11, which is in one of the two tables. */
const isBehindCursor = (at: string, clickId: string) => `($11::text is null or (${at}, ${clickId}) < ((
          select occurred_at from withheld_clicks where click_id = $11
          union all select occurred_at from events where event_id = 'evt_' || substr($11, 5) limit 1), $11))`;

/**
 * Each half reads its own partial index of suspicious clicks, the latest first; an event has its click's UUID. The filters
 * are optional, so the plan reads all of these indexes: too slow for a hot path, fine for an operator.
 */
const list: Statement<Row> = {
  name: "",
  text: `select "botId", "clickId", "userId", code, "campaignId", state, suspicions, "userAgent", "addressHash", "networkHash",
     "occurredAt", "decidedAt", refunds.occurred_at as "refundedAt"
   from (
     (select bot_id as "botId", 'clk_' || substr(event_id, 5) as "clickId", user_id as "userId", code,
        campaign_id as "campaignId", 'counted' as state, suspicions, coalesce(user_agent, '') as "userAgent",
        address_hash as "addressHash", network_hash as "networkHash", occurred_at as "occurredAt",
        null::timestamptz as "decidedAt"
      from events e
      where suspicions is not null and coalesce($9::text, 'counted') = 'counted'
        and ${filterConditions({ table: "e", at: "e.occurred_at" })} ${hashConditions("e")}
        and ${isBehindCursor("e.occurred_at", "'clk_' || substr(event_id, 5)")}
      order by occurred_at desc, event_id desc limit $10)
     union all
     (select bot_id, click_id, user_id, code, campaign_id, became.state, suspicions, user_agent, address_hash,
        network_hash, occurred_at, decided_at
      from withheld_clicks w
      cross join lateral (select case outcome when 'released' then 'counted' else outcome end as state) as became
      where suspicions <> '{}' and ($9::text is null or became.state = $9)
        and ${filterConditions({ table: "w", at: "w.occurred_at" })} ${hashConditions("w")}
        and ${isBehindCursor("w.occurred_at", "click_id")}
      order by occurred_at desc, click_id desc limit $10)
   ) as clicks left join refunds on refunds.event_id = 'evt_' || substr("clickId", 5)
   order by "occurredAt" desc, "clickId" desc limit $10`,
};

/** Lists the clicks that looked suspicious when they occurred, the latest first. */
export async function listClicks(
  database: Database,
  {
    state,
    after,
    limit,
    ...filter
  }: ClickFilter & { state?: ClickState | undefined; after?: string | undefined; limit: number },
): Promise<ListPage<SuspiciousClick>> {
  const rows = await database.run(list, [...clickFilterValues(filter), state ?? null, limit + 1, after ?? null]);
  const read = rows.map(({ addressHash, networkHash, ...row }) => ({
    ...row,
    address: shortened(addressHash),
    network: shortened(networkHash),
  }));
  return listPage(read, limit, ({ clickId }) => clickId);
}

function shortened(hash: Buffer | null): string | null {
  return hash?.toString("hex").slice(0, 8) ?? null;
}

const held = `select click_id as id, click_price_micros as price
  from withheld_clicks w left join campaigns using (campaign_id)
  where w.suspicions <> '{}' and outcome = 'held'
    and ${filterConditions({ table: "w", at: "w.occurred_at" })} ${hashConditions("w")}`;
/** Suspicious clicks that were paid at once, and held ones that were released. */
const refundable = `select 'clk_' || substr(e.event_id, 5) as id, price_micros as price from events e
  where e.suspicions is not null and event = 'direct_link' and price_micros is not null
    and not exists (select from refunds where refunds.event_id = e.event_id)
    and ${filterConditions({ table: "e", at: "e.occurred_at" })} ${hashConditions("e")}
  union all
  select w.click_id, price_micros from withheld_clicks w
  join events e on e.event_id = 'evt_' || substr(w.click_id, 5) and e.bot_id = w.bot_id
  where w.suspicions <> '{}' and outcome = 'released' and price_micros is not null
    and not exists (select from refunds where refunds.event_id = e.event_id)
    and ${filterConditions({ table: "w", at: "w.occurred_at" })} ${hashConditions("w")}`;

/** The clicks that a decision applies to. */
export function matchingClicks(decision: BulkDecision, filter: ClickFilter): Matching {
  return { text: decision === "refund" ? refundable : held, values: clickFilterValues(filter) };
}
