import { statement } from "@intermission/postgres/open-database";
import type { AdDatabase, AdTransaction } from "../ad-database.ts";
import { type RefundOutcome, refundCharge } from "../campaigns/refund-charge.ts";
import { type AdSession, lockSession } from "./rows.ts";
import { settleSession } from "./settle-session.ts";

export type DecideViewOutcome =
  | { outcome: "released"; eventId: string }
  | { outcome: "refused" }
  | { outcome: "unknown-view" }
  | { outcome: "not-held"; state: AdSession["state"] };

interface ViewId {
  botId: string;
  sessionId: string;
}

const decide = statement<never>(
  "ad-sessions.decide",
  "update ad_sessions set state = $3, decided_at = $4 where bot_id = $1 and session_id = $2 and state = 'held'",
);
const refuse = statement<never>(
  "ad-sessions.refuse-held",
  `with refused as (
    update ad_sessions set state = 'refused', decided_at = $3 where bot_id = $1 and session_id = $2 and state = 'held'
    returning bot_id, session_id, campaign_id, creative_id
  )
  insert into ad_milestones (bot_id, session_id, campaign_id, creative_id, milestone, reason, occurred_at)
  select bot_id, session_id, campaign_id, creative_id, 'refused', 'operator', $3 from refused`,
);

/** Pays a held view: its event is made now, like any other. It used up its viewer's turn when it was closed. Then call `deliveries.wake()`. */
export async function releaseView(
  database: AdDatabase,
  { botId, sessionId, eventId, now }: ViewId & { eventId: string; now: Date },
): Promise<DecideViewOutcome> {
  return database.transaction(async (tx) => {
    return ofHeld(tx, { botId, sessionId }, async (session) => {
      await tx.run(decide, [botId, sessionId, "watched", now]);
      const closeReason = session.closeReason ?? "deadline";
      await settleSession(tx, session, { closeReason, eventId, now, isTurnCounted: true });
      return { outcome: "released", eventId };
    });
  });
}

/** Refuses a held view for good. */
export async function refuseView(
  database: AdDatabase,
  { botId, sessionId, now }: ViewId & { now: Date },
): Promise<DecideViewOutcome> {
  return database.transaction((tx) => {
    return ofHeld(tx, { botId, sessionId }, async () => {
      await tx.run(refuse, [botId, sessionId, now]);
      return { outcome: "refused" };
    });
  });
}

const findView = statement<{ code: string }>(
  "ad-sessions.code-of-view",
  "select code from ad_sessions where bot_id = $1 and session_id = $2",
);

/** Gives the advertiser back what a paid view cost. */
export async function refundView(
  database: AdDatabase,
  { botId, sessionId, now }: ViewId & { now: Date },
): Promise<RefundOutcome | { outcome: "unknown-view" }> {
  const [view] = await database.run(findView, [botId, sessionId]);
  if (!view) return { outcome: "unknown-view" };
  return refundCharge(database, { botId, code: view.code, event: "rewarded", now });
}

async function ofHeld(
  tx: AdTransaction,
  id: ViewId,
  work: (session: AdSession) => Promise<DecideViewOutcome>,
): Promise<DecideViewOutcome> {
  const session = await lockSession(tx, id);
  if (!session) return { outcome: "unknown-view" };
  return session.state === "held" ? work(session) : { outcome: "not-held", state: session.state };
}
