import { eventIdOfClick } from "@intermission/ad-core/code";
import { encodeWebhookEvent } from "@intermission/ad-core/webhook-event";
import { type Database, type Statement, statement } from "@intermission/postgres/open-database";
import {
  type BulkDecision,
  filterConditions,
  filterValues,
  type Matching,
  type ReviewFilter,
} from "../campaigns/bulk-review.ts";
import { type RefundOutcome, refundCharge } from "../campaigns/refund-charge.ts";
import { enqueueWebhook } from "../deliveries/enqueue-webhook.ts";
import type { ClickSuspicion } from "./click-verdict.ts";

/** `counted`: paid anyway, by the bot's setting or by release. */
export type ClickState = "counted" | "held" | "refused";

export interface SuspiciousClick {
  botId: string;
  clickId: string;
  userId: string;
  code: string;
  campaignId: string | null;
  state: ClickState;
  suspicions: ClickSuspicion[];
  userAgent: string;
  /** Equal for clicks from one address or one network on one day (UTC); it has no other use. */
  address: string | null;
  network: string | null;
  occurredAt: Date;
  decidedAt: Date | null;
  refundedAt: Date | null;
}

/** A row of the query, with whole hashes; `state` of a released click is `counted`. */
type Row = Omit<SuspiciousClick, "address" | "network"> & { addressHash: Buffer | null; networkHash: Buffer | null };

export interface ClickFilter extends ReviewFilter {
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
      order by occurred_at desc, event_id limit $10)
     union all
     (select bot_id, click_id, user_id, code, campaign_id, became.state, suspicions, user_agent, address_hash,
        network_hash, occurred_at, decided_at
      from withheld_clicks w
      cross join lateral (select case outcome when 'released' then 'counted' else outcome end as state) as became
      where suspicions <> '{}' and ($9::text is null or became.state = $9)
        and ${filterConditions({ table: "w", at: "w.occurred_at" })} ${hashConditions("w")}
      order by occurred_at desc, click_id limit $10)
   ) as clicks left join refunds on refunds.event_id = 'evt_' || substr("clickId", 5)
   order by "occurredAt" desc, "clickId" limit $10`,
};

/** Lists the clicks that looked suspicious when they occurred, the latest first. */
export async function listClicks(
  database: Database,
  { state, limit, ...filter }: ClickFilter & { state?: ClickState | undefined; limit: number },
): Promise<SuspiciousClick[]> {
  const rows = await database.run(list, [...clickFilterValues(filter), state ?? null, limit]);
  return rows.map(({ addressHash, networkHash, ...row }) => ({
    ...row,
    address: shortened(addressHash),
    network: shortened(networkHash),
  }));
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

export type DecideClickOutcome =
  | { outcome: "released"; eventId: string }
  | { outcome: "refused" }
  | { outcome: "unknown-click" }
  | { outcome: "not-held"; state: string };

interface StoredClick {
  botId: string;
  code: string;
  userId: string;
  reference: string;
  state: string;
}

const find = statement<StoredClick>(
  "clicks.find-click",
  `select clicks.*, coalesce(
     (select reference from codes where codes.bot_id = clicks."botId" and codes.code = clicks.code), '') as reference
   from (
     select bot_id as "botId", code, user_id as "userId", case when is_test then 'test' else 'counted' end as state
     from events where event_id = $2 and event = 'direct_link'
     union all
     select bot_id, code, user_id, outcome from withheld_clicks where click_id = $1
   ) as clicks limit 1`,
);

// Two operators may decide at the same time: the update of the held row lets only one of them through.
const release = statement<{ eventId: string }>(
  "clicks.release-click",
  `with released as (
    update withheld_clicks set outcome = 'released', decided_at = $2
    where click_id = $1 and outcome = 'held' and (
      select event_id from events where events.bot_id = withheld_clicks.bot_id and events.code = withheld_clicks.code
        and event = 'direct_link' limit 1
    ) is null
    returning bot_id, code, user_id, campaign_id
  ),
  earned as (
    select bot_id, $3::text as event_id, 'direct_link'::text as event, user_id, code, nullif($4::text, '') as reference,
      false as is_test, campaign_id, null::text as creative_id, click_price_micros as price_micros,
      $2::timestamptz as occurred_at, $5::text as body
    from released join campaigns using (campaign_id)
  ),
  ${enqueueWebhook({ from: "earned" })}
  select event_id as "eventId" from enqueued`,
);

const refuse = statement<{ code: string }>(
  "clicks.refuse-held",
  `with refused as (
    update withheld_clicks set outcome = 'refused', decided_at = $2 where click_id = $1 and outcome = 'held'
    returning bot_id, code
  )
  insert into click_refusals (bot_id, code, reason, hour, count)
  select bot_id, code, 'operator', date_trunc('hour', $2::timestamptz, 'UTC'), 1 from refused
  on conflict (bot_id, code, reason, hour) do update set count = click_refusals.count + 1, is_summed = false
  returning code`,
);

/**
 * Pays a held click: its event is created now, like any other. It used up its viewer's quota when it occurred. Then
 * call `deliveries.wake()`.
 */
export async function releaseClick(
  database: Database,
  { clickId, now }: { clickId: string; now: Date },
): Promise<DecideClickOutcome> {
  const click = await findClick(database, clickId);
  if (!click) return { outcome: "unknown-click" };
  const eventId = eventIdOfClick(clickId);
  const body = encodeWebhookEvent({
    event: "direct_link",
    event_id: eventId,
    bot_id: click.botId,
    user_tg_id: click.userId,
    code: click.code,
    ...(click.reference !== "" && { reference: click.reference }),
    occurred_at: now.toISOString(),
  });
  const made = await database.run(release, [clickId, now, eventId, click.reference, body]);
  if (made.length === 0) return notHeld(database, clickId);
  return { outcome: "released", eventId };
}

async function findClick(database: Database, clickId: string): Promise<StoredClick | undefined> {
  return (await database.run(find, [clickId, eventIdOfClick(clickId)]))[0];
}

/** Refuses a held click permanently. */
export async function refuseClick(
  database: Database,
  { clickId, now }: { clickId: string; now: Date },
): Promise<DecideClickOutcome> {
  const refused = await database.run(refuse, [clickId, now]);
  return refused.length === 0 ? notHeld(database, clickId) : { outcome: "refused" };
}

/** Refunds to the advertiser what a counted click cost. */
export async function refundClick(
  database: Database,
  { clickId, now }: { clickId: string; now: Date },
): Promise<RefundOutcome | { outcome: "unknown-click" }> {
  const click = await findClick(database, clickId);
  if (!click) return { outcome: "unknown-click" };
  if (click.state !== "counted") return { outcome: "not-charged" };
  return refundCharge(database, { botId: click.botId, code: click.code, event: "direct_link", now });
}

async function notHeld(database: Database, clickId: string): Promise<DecideClickOutcome> {
  const click = await findClick(database, clickId);
  return click ? { outcome: "not-held", state: click.state } : { outcome: "unknown-click" };
}
