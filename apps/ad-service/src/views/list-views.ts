import { sql } from "kysely";
import type { AdDatabase } from "../ad-database.ts";
import type { CloseReason, StoredState } from "./schema.ts";
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

/** Views that were suspicious when they were closed, the latest first. */
export async function listViews(
  database: AdDatabase,
  { botId, state, limit }: { botId?: string | undefined; state?: StoredState | undefined; limit: number },
): Promise<SuspiciousView[]> {
  let query = database.query
    .selectFrom("ad_sessions")
    .select(["ad_sessions.bot_id", "session_id", "user_id", "ad_sessions.code", "ad_sessions.campaign_id", "state"])
    .select(["suspicions", "closed_at", "close_reason", "decided_at"])
    .select(({ selectFrom }) =>
      selectFrom("events")
        .innerJoin("refunds", "refunds.event_id", "events.event_id")
        .whereRef("events.bot_id", "=", "ad_sessions.bot_id")
        .whereRef("events.code", "=", "ad_sessions.code")
        .where("events.event", "=", "rewarded")
        .select("refunds.occurred_at")
        .as("refunded_at"),
    )
    // Exactly the condition of the partial index.
    .where(sql<boolean>`suspicions <> '{}'`);
  if (botId !== undefined) query = query.where("ad_sessions.bot_id", "=", botId);
  if (state !== undefined) query = query.where("state", "=", state);
  const rows = await query.orderBy("opened_at", "desc").orderBy("session_id").limit(limit).execute();
  return rows.map((row) => ({
    botId: row.bot_id,
    sessionId: row.session_id,
    userId: row.user_id,
    code: row.code,
    campaignId: row.campaign_id,
    state: row.state,
    suspicions: row.suspicions,
    closedAt: row.closed_at,
    closeReason: row.close_reason,
    decidedAt: row.decided_at,
    refundedAt: row.refunded_at,
  }));
}
