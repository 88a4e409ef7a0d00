import { statement } from "@intermission/postgres/open-database";
import type { AdTransaction } from "../ad-database.ts";
import { enqueueTrackerCalls } from "../vast/enqueue-tracker-calls.ts";
import { recordEarnings } from "../viewers/record-earnings.ts";
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

const readPolicy = statement<{ policy: "pay" | "hold" | "refuse" }>(
  "ad-sessions.suspicion-policy",
  "select suspicious_views as policy from bots where bot_id = $1",
);
const markSuspicious = statement<never>(
  "ad-sessions.mark-suspicious",
  "update ad_sessions set suspicions = $3 where bot_id = $1 and session_id = $2",
);

/*
 * Whoever is refused, or waits for the operator, has used up a turn all the same: else a cheat would have as many as it
 * likes. The next request gets another code.
 */
const setAside = statement<never>(
  "ad-sessions.set-aside",
  `with closed as (
    update ad_sessions set state = $3, closed_at = $4, close_reason = $5, suspicions = $6
    where bot_id = $1 and session_id = $2 and state = 'watched'
    returning bot_id, session_id, code, user_id, campaign_id, creative_id, closed_at as occurred_at
  ),
  counted as (${recordEarnings("closed")}),
  code_set_aside as (
    update current_codes set is_set_aside = true from closed
    where current_codes.bot_id = closed.bot_id and current_codes.user_id = closed.user_id
      and current_codes.reference = $7 and current_codes.code = closed.code
  )
  insert into ad_milestones (bot_id, session_id, campaign_id, creative_id, milestone, reason, occurred_at)
  select bot_id, session_id, campaign_id, creative_id, milestone, reason, occurred_at
  from closed, (values ('close', $5), ($3, array_to_string($6::text[], ' '))) as came_past (milestone, reason)`,
);

/** A view that was watched and is closed now: paid, unless it looks wrong and the bot's setting says otherwise. Once. */
export async function closeSession(
  tx: AdTransaction,
  session: AdSession,
  closing: Closing,
): Promise<"rewarded" | "held" | "refused"> {
  const { botId, sessionId, reference } = session;
  if (session.isVast && !session.isTest) {
    await enqueueTrackerCalls(tx, session, { events: ["close"], playheadMs: session.durationMs, now: closing.now });
  }
  const suspicions = suspicionsOf(session.signals ?? noSignals);
  // A tester's views are tried in every way, and cost nobody anything.
  const policy = suspicions.length === 0 || session.isTest ? "pay" : await policyOf(tx, botId);
  if (policy === "pay") {
    if (suspicions.length > 0) await tx.run(markSuspicious, [botId, sessionId, suspicions]);
    await settleSession(tx, session, closing);
    return "rewarded";
  }
  const state = policy === "hold" ? "held" : "refused";
  await tx.run(setAside, [botId, sessionId, state, closing.now, closing.closeReason, suspicions, reference]);
  return state;
}

async function policyOf(tx: AdTransaction, botId: string): Promise<"pay" | "hold" | "refuse"> {
  return (await tx.run(readPolicy, [botId]))[0]?.policy ?? "pay";
}
