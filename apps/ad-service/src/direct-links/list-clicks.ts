import { statement } from "@intermission/postgres/open-database";
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

/** As stored: a released click is listed as what it became. */
type Row = Omit<SuspiciousClick, "address" | "network"> & { addressHash: Buffer | null; networkHash: Buffer | null };

// Each half by its own index, the latest first; an event has the UUID of its click.
const list = statement<Row>(
  "direct-links.list-suspicious",
  `select "botId", "clickId", "userId", code, "campaignId", state, suspicions, "userAgent", "addressHash", "networkHash",
     "occurredAt", "decidedAt", refunds.occurred_at as "refundedAt"
   from (
     (select bot_id as "botId", 'clk_' || substr(event_id, 5) as "clickId", user_id as "userId", code,
        campaign_id as "campaignId", 'counted' as state, suspicions, coalesce(user_agent, '') as "userAgent",
        address_hash as "addressHash", network_hash as "networkHash", occurred_at as "occurredAt",
        null::timestamptz as "decidedAt"
      from events
      where suspicions is not null and ($1::text is null or bot_id = $1) and ($2::text is null or $2 = 'counted')
      order by occurred_at desc, event_id limit $3)
     union all
     (select bot_id, click_id, user_id, code, campaign_id, case outcome when 'released' then 'counted' else outcome end,
        suspicions, user_agent, address_hash, network_hash, occurred_at, decided_at
      from withheld_clicks
      where suspicions <> '{}' and ($1::text is null or bot_id = $1)
        and ($2::text is null or case outcome when 'released' then 'counted' else outcome end = $2)
      order by occurred_at desc, click_id limit $3)
   ) as clicks left join refunds on refunds.event_id = 'evt_' || substr("clickId", 5)
   order by "occurredAt" desc, "clickId" limit $3`,
);

/** Clicks that something spoke against when they came, the latest first. */
export async function listClicks(
  database: AdDatabase,
  { botId, state, limit }: { botId?: string | undefined; state?: ClickState | undefined; limit: number },
): Promise<SuspiciousClick[]> {
  const rows = await database.run(list, [botId ?? null, state ?? null, limit]);
  return rows.map(({ addressHash, networkHash, ...row }) => ({
    ...row,
    address: shortened(addressHash),
    network: shortened(networkHash),
  }));
}

function shortened(hash: Buffer | null): string | null {
  return hash?.toString("hex").slice(0, 8) ?? null;
}
