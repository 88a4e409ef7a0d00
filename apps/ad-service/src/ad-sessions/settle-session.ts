import { encodeWebhookEvent } from "@intermission/ad-core/webhook-event";
import { statement } from "@intermission/postgres/open-database";
import type { AdTransaction } from "../ad-database.ts";
import { admitEarnings } from "../viewers/admit-earnings.ts";
import { enqueueWebhook } from "../webhook-delivery/enqueue-webhook.ts";
import type { CloseReason } from "./schema.ts";

export interface SettledSession {
  botId: string;
  sessionId: string;
  userId: string;
  code: string;
  /** The publisher's own key of the code, "" without one. */
  reference: string;
  isTest: boolean;
}

export interface Settlement {
  closeReason: CloseReason;
  eventId: string;
  now: Date;
  /** The view was closed earlier and counted towards cooldown and cap then: it was held. */
  isTurnCounted?: boolean;
}

/**
 * State, event, charge and the viewer's limits in one statement. Closes may race, from two tabs, two nodes and the
 * sweeper: each locks the session before, the first finds it watched, all others find it rewarded.
 */
const settle = statement<{ settled: number }>(
  "ad-sessions.settle",
  `
  with closing as (
    select bot_id, user_id, $3::timestamptz as occurred_at from ad_sessions
    where bot_id = $1 and session_id = $2 and state = 'watched' and not $8::boolean
  ),
  admitted as (${admitEarnings({ from: "closing" })}),
  settled as (
    update ad_sessions set state = 'rewarded', closed_at = coalesce(closed_at, $3), close_reason = $4, settle_at = null
    where bot_id = $1 and session_id = $2 and state = 'watched' and ($8 or exists (select from admitted))
    returning bot_id, session_id, code, user_id, campaign_id, creative_id, is_test
  ),
  earned as (
    select bot_id, $5::text as event_id, 'rewarded'::text as event, user_id, code, nullif($6::text, '') as reference,
      is_test, campaign_id, creative_id, case when not is_test then view_price_micros end as price_micros,
      $3::timestamptz as occurred_at, $7::text as body
    from settled join campaigns using (campaign_id)
  ),
  ${enqueueWebhook({ from: "earned" })},
  came_past as (
    insert into ad_milestones (bot_id, session_id, campaign_id, creative_id, milestone, reason, occurred_at)
    select bot_id, session_id, campaign_id, creative_id, 'close', $4, $3 from settled
    where not $8 and not is_test
  )
  select count(*) as settled from settled`,
);

/**
 * Pays a watched session, once, unless the viewer's cooldown or daily cap does not admit it at this moment. The caller holds
 * the session's lock. Call `deliveries.wake()` after the commit.
 */
export async function settleSession(
  tx: AdTransaction,
  session: SettledSession,
  closing: Settlement,
): Promise<{ outcome: "settled" } | { outcome: "not-admitted" }> {
  const { botId, sessionId, userId, code, reference, isTest } = session;
  const body = encodeWebhookEvent({
    event: "rewarded",
    event_id: closing.eventId,
    bot_id: botId,
    user_tg_id: userId,
    code,
    ...(reference !== "" && { reference }),
    occurred_at: closing.now.toISOString(),
    ...(isTest && { test: true as const }),
  });
  const values = [
    botId,
    sessionId,
    closing.now,
    closing.closeReason,
    closing.eventId,
    reference,
    body,
    closing.isTurnCounted ?? false,
  ];
  const [row] = await tx.run(settle, values);
  return row?.settled === 1 ? { outcome: "settled" } : { outcome: "not-admitted" };
}
