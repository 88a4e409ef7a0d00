import { statement } from "@intermission/postgres/open-database";
import type { AdTransaction } from "../ad-database.ts";
import { enqueueTrackerCalls } from "../vast/enqueue-tracker-calls.ts";
import { admitEarnings } from "../viewers/admit-earnings.ts";
import { lockViewer } from "../viewers/find-viewer.ts";
import { limitOfViewer } from "../viewers/limit-of-viewer.ts";
import type { AdSession } from "./rows.ts";
import type { CloseReason } from "./schema.ts";
import { settleSession } from "./settle-session.ts";
import { noSignals, suspicionsOf } from "./viewing-signals.ts";

export interface Closing {
  closeReason: CloseReason;
  /** Of the event, should the view earn it. */
  eventId: string;
  now: Date;
}

/** `watched`: closed, and paid as soon as the bot's cooldown is over. */
export type ClosedState = "rewarded" | "held" | "refused" | "watched";

const readPolicy = statement<{ policy: "pay" | "hold" | "refuse" }>(
  "ad-sessions.suspicion-policy",
  "select suspicious_views as policy from bots where bot_id = $1",
);
const markSuspicious = statement<never>(
  "ad-sessions.mark-suspicious",
  "update ad_sessions set suspicions = $3 where bot_id = $1 and session_id = $2",
);

const setCodeAside = (from: string, reference: string) => `
  update current_codes set is_withheld = true from ${from}
  where current_codes.bot_id = ${from}.bot_id and current_codes.user_id = ${from}.user_id
    and current_codes.reference = ${reference} and current_codes.code = ${from}.code`;

/*
 * A view that is refused, or waits for the operator, counts towards cooldown and cap all the same: else a cheat would have
 * as many as it likes. The next request gets another code.
 */
const setAside = statement<{ closed: number }>(
  "ad-sessions.set-aside",
  `with closing as (
    select bot_id, user_id, $4::timestamptz as occurred_at from ad_sessions
    where bot_id = $1 and session_id = $2 and state = 'watched'
  ),
  admitted as (${admitEarnings({ from: "closing" })}),
  closed as (
    update ad_sessions set state = $3, closed_at = $4, close_reason = $5, suspicions = $6, settle_at = null
    where bot_id = $1 and session_id = $2 and state = 'watched' and exists (select from admitted)
    returning bot_id, session_id, code, user_id, campaign_id, creative_id, closed_at as occurred_at
  ),
  code_set_aside as (${setCodeAside("closed", "$7")}),
  came_past as (
    insert into ad_milestones (bot_id, session_id, campaign_id, creative_id, milestone, reason, occurred_at)
    select bot_id, session_id, campaign_id, creative_id, milestone, reason, occurred_at
    from closed, (values ('close', $5), ($3, array_to_string($6::text[], ' '))) as came_past (milestone, reason)
  )
  select count(*) as closed from closed`,
);

const deferSettlement = statement<never>(
  "ad-sessions.defer-settlement",
  `update ad_sessions set settle_at = $3, close_requested_at = coalesce(close_requested_at, $4), close_reason = $5
   where bot_id = $1 and session_id = $2`,
);

const refuseByLimit = statement<never>(
  "ad-sessions.refuse-by-limit",
  `with refused as (
    update ad_sessions set state = 'refused', closed_at = $3, close_reason = $4, settle_at = null,
      progress = jsonb_set(progress, array['refusals', $5], '1')
    where bot_id = $1 and session_id = $2 and state = 'watched'
    returning bot_id, session_id, code, user_id, campaign_id, creative_id, is_test
  ),
  code_set_aside as (${setCodeAside("refused", "$6")})
  insert into ad_milestones (bot_id, session_id, campaign_id, creative_id, milestone, reason, occurred_at)
  select bot_id, session_id, campaign_id, creative_id, milestone, reason, $3
  from refused, (values ('close', $4), ('refused', $5)) as came_past (milestone, reason) where not is_test`,
);

/** A view that was watched and is closed now: paid, unless it looks wrong and the bot's setting says otherwise. Once. */
export async function closeSession(tx: AdTransaction, session: AdSession, closing: Closing): Promise<ClosedState> {
  const { botId, sessionId, reference } = session;
  if (session.isVast && !session.isTest) {
    await enqueueTrackerCalls(tx, session, { events: ["close"], playheadMs: session.durationMs, now: closing.now });
  }
  const suspicions = suspicionsOf(session.signals ?? noSignals);
  // A tester's views are tried in every way, and cost nobody anything.
  const policy = suspicions.length === 0 || session.isTest ? "pay" : await policyOf(tx, botId);
  if (policy === "pay") {
    if (suspicions.length > 0) await tx.run(markSuspicious, [botId, sessionId, suspicions]);
    const { outcome } = await settleSession(tx, session, closing);
    return outcome === "settled" ? "rewarded" : deferOrRefuse(tx, session, closing);
  }
  const state = policy === "hold" ? "held" : "refused";
  const values = [botId, sessionId, state, closing.now, closing.closeReason, suspicions, reference];
  const [row] = await tx.run(setAside, values);
  return row?.closed === 1 ? state : deferOrRefuse(tx, session, closing);
}

/**
 * The viewer earned elsewhere while this view was played. It is paid when cooldown and cap allow; where that is after its
 * deadline it earns nothing, and the publisher reads why.
 */
async function deferOrRefuse(tx: AdTransaction, session: AdSession, closing: Closing): Promise<"watched" | "refused"> {
  const { botId, sessionId, userId } = session;
  const { now, closeReason } = closing;
  const viewer = await lockViewer(tx, { botId, userId, now });
  const limit = limitOfViewer(viewer, viewer, now);
  const admittedAt = limit.outcome === "limited" ? limit.availableAt : now;
  if (limit.outcome === "free" || admittedAt <= session.deadline) {
    await tx.run(deferSettlement, [botId, sessionId, admittedAt, now, closeReason]);
    return "watched";
  }
  await tx.run(refuseByLimit, [botId, sessionId, now, closeReason, limit.reason, session.reference]);
  return "refused";
}

async function policyOf(tx: AdTransaction, botId: string): Promise<"pay" | "hold" | "refuse"> {
  return (await tx.run(readPolicy, [botId]))[0]?.policy ?? "pay";
}
