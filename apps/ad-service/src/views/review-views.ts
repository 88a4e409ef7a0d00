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
import { type AdSession, type CloseReason, readSession, type StoredState } from "./session.ts";
import { bodyOf } from "./view-change.ts";
import type { Suspicion } from "./viewing-signals.ts";

export interface SuspiciousView {
  botId: string;
  sessionId: string;
  userId: string;
  code: string;
  campaignId: string;
  /** `rewarded`: paid despite the suspicions, by the bot's setting or by release. */
  state: StoredState;
  suspicions: Suspicion[];
  closedAt: Date | null;
  closeReason: CloseReason | null;
  decidedAt: Date | null;
  refundedAt: Date | null;
}

// Unnamed, since an operator runs it rarely. Its first condition is exactly that of the partial index.
const list: Statement<SuspiciousView> = {
  name: "",
  text: `select bot_id as "botId", session_id as "sessionId", user_id as "userId", code, campaign_id as "campaignId", state,
     suspicions, closed_at as "closedAt", close_reason as "closeReason", decided_at as "decidedAt",
     (select refunds.occurred_at from events join refunds using (event_id)
      where events.bot_id = ad_sessions.bot_id and events.code = ad_sessions.code
        and events.event = 'rewarded') as "refundedAt"
   from ad_sessions
   where suspicions <> '{}' and ${filterConditions({ table: "ad_sessions", at: "closed_at" })}
     and ($7::text is null or state = $7)
   order by opened_at desc, session_id limit $8`,
};

/** Views that were suspicious when they were closed, the latest first. */
export async function listViews(
  database: Database,
  { state, limit, ...filter }: ReviewFilter & { state?: StoredState | undefined; limit: number },
): Promise<SuspiciousView[]> {
  return database.run(list, [...filterValues(filter), state, limit]);
}

const held = `select s.session_id as id, view_price_micros as price
  from ad_sessions s left join campaigns using (campaign_id)
  where s.suspicions <> '{}' and s.state = 'held' and ${filterConditions({ table: "s", at: "s.closed_at" })}`;
const refundable = `select s.session_id as id, price_micros as price
  from ad_sessions s join events e on e.code = s.code and e.bot_id = s.bot_id and e.event = 'rewarded'
  where s.suspicions <> '{}' and s.state = 'rewarded' and price_micros is not null
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
  | { outcome: "not-held"; state: AdSession["state"] };

interface ViewId {
  botId: string;
  sessionId: string;
}

/* The viewer's cooldown and cap already counted the view when it was closed. */
const release = statement<{ eventId: string }>(
  "ad-sessions.release",
  `with released as (
    update ad_sessions set state = 'rewarded', decided_at = $3, version = version + 1
    where bot_id = $1 and session_id = $2 and state = 'held'
    returning bot_id, code, user_id, reference, start_param, campaign_id, creative_id, is_test
  ),
  earned as (
    select bot_id, $4::text as event_id, 'rewarded' as event, user_id, code, nullif(reference, '') as reference, is_test,
      campaign_id, creative_id, case when not is_test then view_price_micros end as price_micros,
      $3::timestamptz as occurred_at, $5::text as body, start_param
    from released join campaigns using (campaign_id)
  ),
  ${enqueueWebhook({ from: "earned", more: ["start_param"] })}
  select event_id as "eventId" from enqueued`,
);
const refuse = statement<{ state: string }>(
  "ad-sessions.refuse-held",
  `with refused as (
    update ad_sessions set state = 'refused', decided_at = $3, version = version + 1
    where bot_id = $1 and session_id = $2 and state = 'held'
    returning bot_id, campaign_id, creative_id, state
  ),
  came_past as (
    insert into ad_milestones (bot_id, campaign_id, creative_id, milestone, reason, occurred_at)
    select bot_id, campaign_id, creative_id, 'refused', 'operator', $3 from refused
  )
  select state from refused`,
);

/** Pays a held view by creating its event now. Then call `deliveries.wake()`. */
export async function releaseView(
  database: Database,
  { botId, sessionId, eventId, now }: ViewId & { eventId: string; now: Date },
): Promise<DecideViewOutcome> {
  const session = await readSession(database, { botId, sessionId });
  if (!session) return { outcome: "unknown-view" };
  const values = [botId, sessionId, now, eventId, bodyOf(session, { eventId }, now)];
  const [released] = await database.run(release, values);
  return released ? { outcome: "released", eventId } : notHeld(database, { botId, sessionId });
}

/** Refuses a held view permanently. */
export async function refuseView(
  database: Database,
  { botId, sessionId, now }: ViewId & { now: Date },
): Promise<DecideViewOutcome> {
  const [refused] = await database.run(refuse, [botId, sessionId, now]);
  return refused ? { outcome: "refused" } : notHeld(database, { botId, sessionId });
}

const findView = statement<{ code: string }>(
  "ad-sessions.code-of-view",
  "select code from ad_sessions where bot_id = $1 and session_id = $2",
);

/** Refunds the advertiser for a paid view. */
export async function refundView(
  database: Database,
  { botId, sessionId, now }: ViewId & { now: Date },
): Promise<RefundOutcome | { outcome: "unknown-view" }> {
  const [view] = await database.run(findView, [botId, sessionId]);
  if (!view) return { outcome: "unknown-view" };
  return refundCharge(database, { botId, code: view.code, event: "rewarded", now });
}

/** Two operators may decide at the same time: the second one gets the state that the first one set. */
async function notHeld(database: Database, id: ViewId): Promise<DecideViewOutcome> {
  const session = await readSession(database, id);
  return session ? { outcome: "not-held", state: session.state } : { outcome: "unknown-view" };
}
