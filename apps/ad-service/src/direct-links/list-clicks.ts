import { sql } from "kysely";
import type { AdDatabase } from "../ad-database.ts";
import type { ClickSuspicion } from "./click-signals.ts";

/** `counted`: paid all the same, by the bot's setting or by release. */
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
  /** Equal for clicks from one address or one network on one day (UTC), and of no other use. */
  address: string | null;
  network: string | null;
  occurredAt: Date;
  decidedAt: Date | null;
  refundedAt: Date | null;
}

/** Clicks that something spoke against when they came, the latest first. */
export async function listClicks(
  database: AdDatabase,
  { botId, state, limit }: { botId?: string | undefined; state?: ClickState | undefined; limit: number },
): Promise<SuspiciousClick[]> {
  let query = database.query
    .selectFrom("clicks")
    .leftJoin("refunds", (join) =>
      join
        .onRef("refunds.bot_id", "=", "clicks.bot_id")
        .onRef("refunds.code", "=", "clicks.code")
        .on("refunds.format", "=", "direct_link")
        .on("clicks.outcome", "=", "counted"),
    )
    .select(["clicks.bot_id", "click_id", "user_id", "clicks.code", "clicks.campaign_id", "outcome", "suspicions"])
    .select(["user_agent", "address_hash", "network_hash", "clicks.occurred_at", "decided_at"])
    .select("refunds.occurred_at as refunded_at")
    // The very condition of the index.
    .where(sql<boolean>`suspicions <> '{}'`);
  if (botId !== undefined) query = query.where("clicks.bot_id", "=", botId);
  if (state !== undefined) query = query.where("outcome", "=", state);
  const rows = await query.orderBy("clicks.occurred_at", "desc").orderBy("click_id").limit(limit).execute();
  return rows.map((row) => ({
    botId: row.bot_id,
    clickId: row.click_id,
    userId: row.user_id,
    code: row.code,
    campaignId: row.campaign_id,
    state: row.outcome as ClickState,
    suspicions: row.suspicions,
    userAgent: row.user_agent,
    address: shortened(row.address_hash),
    network: shortened(row.network_hash),
    occurredAt: row.occurred_at,
    decidedAt: row.decided_at,
    refundedAt: row.refunded_at,
  }));
}

function shortened(hash: Buffer | null): string | null {
  return hash?.toString("hex").slice(0, 8) ?? null;
}
