import type { BulkDecision, ReviewFilter, SuspiciousView } from "@intermission/operator-api/reviews";
import { type Author, changeAudited } from "@intermission/postgres/audit";
import { type ListPage, listPage } from "@intermission/postgres/keyset";
import { type Database, type Statement, statement } from "@intermission/postgres/open-database";
import { selectTerms } from "../campaigns/event-worth.ts";
import { type RefundOutcome, writeRefund } from "../campaigns/refund-charge.ts";
import { enqueueWebhook } from "../deliveries/enqueue-webhook.ts";
import type { AdView, StoredState } from "../views/ad-view.ts";
import { bodyOf } from "../views/change-rows.ts";
import { inWeekOfView } from "../views/view-ids.ts";
import { filterConditions, filterValues, type Matching } from "./bulk-review.ts";
import {
  decideRefund,
  decideRefusal,
  decideRelease,
  type NotHeld,
  type ReviewFacts,
  untilUnchanged,
} from "./decide-review.ts";

// Unnamed, since an operator runs it rarely. Its first condition is exactly that of the partial index.
const list: Statement<SuspiciousView> = {
  name: "",
  text: `select bot_id as "botId", view_id as "sessionId", user_id as "userId", code, campaign_id as "campaignId", state,
     suspicions, closed_at as "closedAt", close_reason as "closeReason", decided_at as "decidedAt",
     (select refunds.occurred_at from events join refunds using (event_id)
      where events.bot_id = views.bot_id and events.code = views.code
        and events.event = views.format) as "refundedAt"
   from views
   where suspicions <> '{}' and ${filterConditions({ table: "views", at: "closed_at" })}
     and ($7::text is null or state = $7)
     and ($9::text is null or (opened_at, view_id) <
       (select last.opened_at, last.view_id from views as last where last.view_id = $9 and ${inWeekOfView("$9", "last.code")}))
   order by opened_at desc, view_id desc limit $8`,
};

/** Views that were suspicious when they were closed, the latest first. */
export async function listViews(
  database: Database,
  {
    state,
    after,
    limit,
    ...filter
  }: ReviewFilter & { state?: StoredState | undefined; after?: string | undefined; limit: number },
): Promise<ListPage<SuspiciousView>> {
  const rows = await database.run(list, [...filterValues(filter), state, limit + 1, after]);
  return listPage(rows, limit, ({ sessionId }) => sessionId);
}

const held = `select s.view_id as id, coalesce(s.price_micros, view_price_micros) as price
  from views s left join campaigns using (campaign_id)
  where s.suspicions <> '{}' and s.state = 'held' and ${filterConditions({ table: "s", at: "s.closed_at" })}`;
const refundable = `select s.view_id as id, e.price_micros as price
  from views s join events e on e.code = s.code and e.bot_id = s.bot_id and e.event = s.format
  where s.suspicions <> '{}' and s.state = 'rewarded' and e.price_micros is not null
    and not exists (select from refunds where refunds.event_id = e.event_id)
    and ${filterConditions({ table: "s", at: "s.closed_at" })}`;

/** The views that a decision applies to. */
export function matchingViews(decision: BulkDecision, filter: ReviewFilter): Matching {
  return { text: decision === "refund" ? refundable : held, values: filterValues(filter) };
}

export type DecideViewOutcome =
  | { outcome: "released"; eventId: string }
  | { outcome: "refused" }
  | { outcome: "unknown-view" }
  | NotHeld<StoredState>;

interface ViewId {
  botId: string;
  viewId: string;
}

type Decision = ViewId & { author?: Author | undefined; now: Date };

type FactRow = Omit<ReviewFacts<StoredState>, "charge"> &
  Pick<AdView, "botId" | "code" | "userId" | "reference" | "startParam" | "clientNote" | "format" | "version"> & {
    chargedEventId: string | null;
    isRefunded: boolean;
    sendsInterstitials: boolean;
    sendsClientNotes: boolean;
  };

const readFacts = statement<FactRow>(
  "views.review-facts",
  `select s.bot_id as "botId", s.code, s.user_id as "userId", s.reference, s.start_param as "startParam", s.client_note as "clientNote", s.is_test as "isTest",
     sends_client_notes as "sendsClientNotes", s.version, s.state, s.format, sends_interstitials as "sendsInterstitials", coalesce(s.price_micros, view_price_micros) as "priceMicros", include_revenue as "includeRevenue",
     ${selectTerms}, e.event_id as "chargedEventId",
     refunds.event_id is not null as "isRefunded"
   from views s join bots using (bot_id) left join campaigns using (campaign_id)
   left join events e on e.bot_id = s.bot_id and e.code = s.code and e.event = s.format and e.price_micros is not null
   left join refunds on refunds.event_id = e.event_id
   where s.bot_id = $1 and s.view_id = $2 and ${inWeekOfView("$2", "s.code")}`,
);

async function factsOf(database: Database, { botId, viewId }: ViewId) {
  const [row] = await database.run(readFacts, [botId, viewId]);
  if (!row) return undefined;
  const { chargedEventId, isRefunded, ...facts } = row;
  return { ...facts, charge: chargedEventId === null ? null : { eventId: chargedEventId, isRefunded } };
}

// Both compare the version of the view, which an erasure of its user changes, too.
const release = statement<{ eventId: string }>(
  "views.release",
  `with released as (
    update views set state = 'rewarded', decided_at = $4, version = version + 1
    where bot_id = $1 and view_id = $2 and ${inWeekOfView("$2", "code")} and version = $3
    returning bot_id, code, user_id, reference, start_param, client_note, campaign_id, creative_id, is_test, audience, format
  ),
  earned as (
    select bot_id, $5::text as event_id, format as event, user_id, code, nullif(reference, '') as reference, is_test,
      campaign_id, creative_id, $6::bigint as price_micros, $7::bigint as revenue_micros, audience,
      $4::timestamptz as occurred_at, $8::text as body, start_param,
      case when $9::boolean then client_note end as client_note
    from released
  ),
  ${enqueueWebhook({ from: "earned", maySayNothing: true, more: ["start_param", "client_note", "audience"] })}
  select event_id as "eventId" from enqueued`,
);
const refuse = statement<{ state: StoredState }>(
  "views.refuse-held",
  `with refused as (
    update views set state = 'refused', decided_at = $4, version = version + 1
    where bot_id = $1 and view_id = $2 and ${inWeekOfView("$2", "code")} and version = $3
    returning bot_id, campaign_id, creative_id, audience, state
  ),
  counted as (
    insert into ad_milestones (bot_id, campaign_id, creative_id, milestone, reason, audience, occurred_at)
    select bot_id, campaign_id, creative_id, 'refused', 'operator', audience, $4 from refused
  )
  select state from refused`,
);

/** Pays a held view by creating its event now. Then call `deliveries.wake()`. */
export function releaseView(
  database: Database,
  { botId, viewId, eventId, author, now }: Decision & { eventId: string },
): Promise<DecideViewOutcome> {
  return untilUnchanged(async () => {
    const facts = await factsOf(database, { botId, viewId });
    if (!facts) return { outcome: "unknown-view" };
    const decision = decideRelease(facts);
    if (decision.outcome === "not-held") return decision;
    const { worth } = decision;
    const event = [
      eventId,
      worth.priceMicros,
      worth.revenueMicros,
      bodyOf(facts, { ...facts, eventId }, now, worth),
      facts.sendsClientNotes,
    ];
    const values = [botId, viewId, facts.version, now, ...event];
    const released = await changeAudited(database, { objectId: viewId, author }, { statement: release, values });
    return released ? { outcome: "released", eventId } : "changed";
  });
}

/** Refuses a held view permanently. */
export function refuseView(database: Database, { botId, viewId, author, now }: Decision): Promise<DecideViewOutcome> {
  return untilUnchanged(async () => {
    const facts = await factsOf(database, { botId, viewId });
    if (!facts) return { outcome: "unknown-view" };
    const decision = decideRefusal(facts);
    if (decision.outcome !== "refuse") return decision satisfies NotHeld<StoredState>;
    const values = [botId, viewId, facts.version, now];
    const refused = await changeAudited(database, { objectId: viewId, author }, { statement: refuse, values });
    return refused ? { outcome: "refused" } : "changed";
  });
}

/** Refunds the advertiser for a paid view. */
export function refundView(
  database: Database,
  { botId, viewId, author, now }: Decision,
): Promise<RefundOutcome | { outcome: "unknown-view" }> {
  return untilUnchanged(async () => {
    const facts = await factsOf(database, { botId, viewId });
    if (!facts) return { outcome: "unknown-view" };
    const decision = decideRefund(facts);
    if (decision.outcome !== "refund") return decision;
    return writeRefund(database, { objectId: viewId, botId, eventId: decision.eventId, author, now });
  });
}
