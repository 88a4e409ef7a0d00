import { eventIdOfClick, timeOfClick } from "@intermission/ad-core/code";
import type { WithheldOutcome } from "@intermission/operator-api/timeline";
import { type Author, changeAudited } from "@intermission/postgres/audit";
import { type Database, statement } from "@intermission/postgres/open-database";
import { selectTerms } from "../campaigns/event-worth.ts";
import { type RefundOutcome, writeRefund } from "../campaigns/refund-charge.ts";
import { enqueueWebhook } from "../deliveries/enqueue-webhook.ts";
import { webhookBody } from "../deliveries/webhook-body.ts";
import type { PastPeriod } from "../retention/keep-partitions.ts";
import { MIN_KEPT_DAYS } from "../retention/kept-rows.ts";
import {
  decideRefund,
  decideRefusal,
  decideRelease,
  type NotHeld,
  type ReviewFacts,
  untilUnchanged,
} from "./decide-review.ts";

const MIN_KEPT_MS = MIN_KEPT_DAYS * 86_400_000;

/** What is stored about a click: `counted` and `test` of an event that it earned at once, else what it was withheld for. */
type StoredClickState = WithheldOutcome | "counted" | "test";

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
      $7::bigint as revenue_micros, audience, true as is_released, $3::timestamptz as occurred_at, $8::text as body
    from released
  ),
  ${enqueueWebhook({ from: "earned", more: ["audience", "is_released"] })}
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

interface Decision {
  clickId: string;
  author?: Author | undefined;
  now: Date;
}

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
  { clickId, author, now }: Decision,
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
    const of = { eventId, botId, userId, code, reference };
    const body = webhookBody({ event: "direct_link", ...of, at: now, worth: decision.worth.fields });
    const { priceMicros, revenueMicros } = decision.worth;
    const event = [eventId, reference, priceMicros, revenueMicros, body];
    const values = [clickId, userId, now, ...event];
    const released = await changeAudited(database, { objectId: clickId, author }, { statement: release, values });
    return released ? { outcome: "released", eventId } : "changed";
  });
}

/** Refuses a held click permanently. */
export function refuseClick(database: Database, { clickId, author, now }: Decision): Promise<DecideClickOutcome> {
  return untilUnchanged(async () => {
    const facts = await factsOf(database, clickId);
    if (!facts) return { outcome: "unknown-click" };
    const decision = decideRefusal(facts);
    if (decision.outcome !== "refuse") return decision satisfies NotHeld<StoredClickState>;
    const values = [clickId, now];
    const refused = await changeAudited(database, { objectId: clickId, author }, { statement: refuse, values });
    return refused ? { outcome: "refused" } : "changed";
  });
}

/** Refunds to the advertiser what a counted click cost. */
export function refundClick(
  database: Database,
  { clickId, author, now }: Decision,
): Promise<RefundOutcome | { outcome: "unknown-click" }> {
  return untilUnchanged(async () => {
    const facts = await factsOf(database, clickId);
    if (!facts) return { outcome: "unknown-click" };
    const decision = decideRefund(facts);
    if (decision.outcome !== "refund") return decision;
    return writeRefund(database, { objectId: clickId, botId: facts.botId, eventId: decision.eventId, author, now });
  });
}
