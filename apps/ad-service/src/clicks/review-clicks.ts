import { eventIdOfClick, timeOfClick } from "@intermission/ad-core/code";
import { encodeWebhookEvent } from "@intermission/ad-core/webhook-event";
import type { ReviewFilter, SuspiciousClick } from "@intermission/operator-api/reviews";
import { type ListPage, listPage } from "@intermission/postgres/keyset";
import { type Database, type Statement, statement } from "@intermission/postgres/open-database";
import { type BulkDecision, filterConditions, filterValues, type Matching } from "../campaigns/bulk-review.ts";
import {
  decideRefund,
  decideRefusal,
  decideRelease,
  type NotHeld,
  type ReviewFacts,
  untilUnchanged,
} from "../campaigns/decide-review.ts";
import { selectTerms } from "../campaigns/event-worth.ts";
import { type RefundOutcome, writeRefund } from "../campaigns/refund-charge.ts";
import { enqueueWebhook } from "../deliveries/enqueue-webhook.ts";
import type { PastPeriod } from "../retention/keep-partitions.ts";
import { MIN_KEPT_DAYS } from "../retention/kept-rows.ts";
import type { WithheldOutcome } from "./click-verdict.ts";

const MIN_KEPT_MS = MIN_KEPT_DAYS * 86_400_000;

/** `counted`: paid anyway, by the bot's setting or by release. */
export type ClickState = "counted" | "held" | "refused";

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

/** What is stored about a click: `counted` and `test` of an event that it earned at once, else what it was withheld for. */
export type StoredClickState = WithheldOutcome | "counted" | "test";

export type DecideClickOutcome =
  | { outcome: "released"; eventId: string }
  | { outcome: "refused" }
  | { outcome: "unknown-click" }
  | NotHeld<StoredClickState>;

interface FactRow extends Omit<ReviewFacts<StoredClickState>, "charge" | "isTest"> {
  botId: string;
  code: string;
  userId: string;
  reference: string;
  /** The code has earned a click, this one or another. */
  hasCodeEarned: boolean;
  chargedEventId: string | null;
  isRefunded: boolean;
}

const readFacts = statement<FactRow>(
  "clicks.review-facts",
  `select click."botId", click.code, click."userId", click.state, "chargedEventId", coalesce(codes.reference, '') as reference,
     click_price_micros as "priceMicros", include_revenue as "includeRevenue", ${selectTerms},
     exists (select from events where events.bot_id = click."botId" and events.code = click.code
       and event = 'direct_link') as "hasCodeEarned",
     refunds.event_id is not null as "isRefunded"
   from (
     select bot_id as "botId", code, user_id as "userId", case when is_test then 'test' else 'counted' end as state,
       case when price_micros is not null then event_id end as "chargedEventId", campaign_id, 1 as place
     from events where event_id = $2 and event = 'direct_link'
     union all
     select bot_id, code, user_id, outcome, null, campaign_id, 2 from withheld_clicks where click_id = $1
     -- A released click has both.
     order by place limit 1
   ) as click
   join bots on bots.bot_id = click."botId"
   left join codes on codes.bot_id = click."botId" and codes.code = click.code
   left join campaigns on campaigns.campaign_id = click.campaign_id
   left join refunds on refunds.event_id = click."chargedEventId"`,
);

async function factsOf(database: Database, clickId: string) {
  const [row] = await database.run(readFacts, [clickId, eventIdOfClick(clickId)]);
  if (!row) return undefined;
  const { chargedEventId, isRefunded, ...facts } = row;
  const charge = chargedEventId === null ? null : { eventId: chargedEventId, isRefunded };
  return { ...facts, charge, isTest: facts.state === "test" };
}

// The user's id changes with an erasure, after which the event would name a person who is erased.
const release = statement<{ eventId: string }>(
  "clicks.release-click",
  `with released as (
    update withheld_clicks set outcome = 'released', decided_at = $3
    where click_id = $1 and outcome = 'held' and user_id = $2 and not exists (
      select from events where events.bot_id = withheld_clicks.bot_id and events.code = withheld_clicks.code
        and event = 'direct_link')
    returning bot_id, code, user_id, campaign_id, audience
  ),
  earned as (
    select bot_id, $4::text as event_id, 'direct_link'::text as event, user_id, code, nullif($5::text, '') as reference,
      false as is_test, campaign_id, null::text as creative_id, $6::bigint as price_micros,
      $7::bigint as revenue_micros, audience, $3::timestamptz as occurred_at, $8::text as body
    from released
  ),
  ${enqueueWebhook({ from: "earned", more: ["audience"] })}
  select event_id as "eventId" from enqueued`,
);

const refuse = statement<{ code: string }>(
  "clicks.refuse-held",
  `with refused as (
    update withheld_clicks set outcome = 'refused', decided_at = $2 where click_id = $1 and outcome = 'held'
    returning bot_id, code
  )
  insert into click_refusals (bot_id, code, reason, quarter, count)
  select bot_id, code, 'operator', date_bin('15 minutes', $2::timestamptz, 'epoch'), 1 from refused
  on conflict (bot_id, code, reason, quarter) do update set count = click_refusals.count + 1, is_summed = false
  returning code`,
);

export interface ReleaseClickDeps {
  database: Database;
  makePartitions: (period: PastPeriod) => Promise<void>;
}

/**
 * Pays a held click: its event is created now, like any other. It used up its viewer's quota when it occurred. Then
 * call `deliveries.wake()`.
 */
export function releaseClick(
  { database, makePartitions }: ReleaseClickDeps,
  { clickId, now }: { clickId: string; now: Date },
): Promise<DecideClickOutcome> {
  return untilUnchanged(async () => {
    const facts = await factsOf(database, clickId);
    if (!facts) return { outcome: "unknown-click" };
    const decision = decideRelease(facts.state === "held" && facts.hasCodeEarned ? { ...facts, state: "used" } : facts);
    if (decision.outcome === "not-held") return decision;
    const { botId, userId, code, reference } = facts;
    const eventId = eventIdOfClick(clickId);
    // The event has the id of its click, and so the click's week: its webhooks may have been dropped.
    const clickedAt = timeOfClick(clickId);
    if (clickedAt !== undefined && now.getTime() - clickedAt.getTime() > MIN_KEPT_MS)
      await makePartitions({ from: clickedAt, to: new Date(clickedAt.getTime() + 1), rows: "deliveries" });
    const body = encodeWebhookEvent({
      event: "direct_link",
      event_id: eventId,
      bot_id: botId,
      user_tg_id: userId,
      code,
      ...(reference !== "" && { reference }),
      occurred_at: now.toISOString(),
      ...decision.worth.fields,
    });
    const { priceMicros, revenueMicros } = decision.worth;
    const event = [eventId, reference, priceMicros, revenueMicros, body];
    const [released] = await database.run(release, [clickId, userId, now, ...event]);
    return released ? { outcome: "released", eventId } : "changed";
  });
}

/** Refuses a held click permanently. */
export function refuseClick(
  database: Database,
  { clickId, now }: { clickId: string; now: Date },
): Promise<DecideClickOutcome> {
  return untilUnchanged(async () => {
    const facts = await factsOf(database, clickId);
    if (!facts) return { outcome: "unknown-click" };
    const decision = decideRefusal(facts);
    if (decision.outcome !== "refuse") return decision satisfies NotHeld<StoredClickState>;
    const [refused] = await database.run(refuse, [clickId, now]);
    return refused ? { outcome: "refused" } : "changed";
  });
}

/** Refunds to the advertiser what a counted click cost. */
export function refundClick(
  database: Database,
  { clickId, now }: { clickId: string; now: Date },
): Promise<RefundOutcome | { outcome: "unknown-click" }> {
  return untilUnchanged(async () => {
    const facts = await factsOf(database, clickId);
    if (!facts) return { outcome: "unknown-click" };
    const decision = decideRefund(facts);
    return decision.outcome === "refund"
      ? writeRefund(database, { botId: facts.botId, eventId: decision.eventId, now })
      : decision;
  });
}
