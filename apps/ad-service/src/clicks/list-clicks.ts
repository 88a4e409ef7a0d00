import { sql } from "kysely";
import type { AdDatabase } from "../ad-database.ts";
import type { ClickSuspicion } from "./schema.ts";

/** `counted`: paid anyway, by the bot's setting or by release. */
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
  /** Equal for clicks from one address or one network on one day (UTC); it has no other use. */
  address: string | null;
  network: string | null;
  occurredAt: Date;
  decidedAt: Date | null;
  refundedAt: Date | null;
}

/** A row of the query, with whole hashes; `state` of a released click is `counted`. */
type Row = Omit<SuspiciousClick, "address" | "network"> & { addressHash: Buffer | null; networkHash: Buffer | null };

/** Lists the clicks that looked suspicious when they occurred, the latest first. */
export async function listClicks(
  database: AdDatabase,
  { botId, state, limit }: { botId?: string | undefined; state?: ClickState | undefined; limit: number },
): Promise<SuspiciousClick[]> {
  const ofBot = sql`(${botId ?? null}::text is null or bot_id = ${botId ?? null})`;
  const became = sql`case outcome when 'released' then 'counted' else outcome end`;
  // Each half reads its own index, the latest first; an event has the UUID of its click.
  const { rows } = await sql<Row>`
    select "botId", "clickId", "userId", code, "campaignId", state, suspicions, "userAgent", "addressHash", "networkHash",
      "occurredAt", "decidedAt", refunds.occurred_at as "refundedAt"
    from (
      (select bot_id as "botId", 'clk_' || substr(event_id, 5) as "clickId", user_id as "userId", code,
         campaign_id as "campaignId", 'counted' as state, suspicions, coalesce(user_agent, '') as "userAgent",
         address_hash as "addressHash", network_hash as "networkHash", occurred_at as "occurredAt",
         null::timestamptz as "decidedAt"
       from events
       where suspicions is not null and ${ofBot} and ${state ?? "counted"} = 'counted'
       order by occurred_at desc, event_id limit ${limit})
      union all
      (select bot_id, click_id, user_id, code, campaign_id, ${became}, suspicions, user_agent, address_hash, network_hash,
         occurred_at, decided_at
       from withheld_clicks
       where suspicions <> '{}' and ${ofBot} and (${state ?? null}::text is null or ${became} = ${state ?? null})
       order by occurred_at desc, click_id limit ${limit})
    ) as clicks left join refunds on refunds.event_id = 'evt_' || substr("clickId", 5)
    order by "occurredAt" desc, "clickId" limit ${limit}`.execute(database.query);
  return rows.map(({ addressHash, networkHash, ...row }) => ({
    ...row,
    address: shortened(addressHash),
    network: shortened(networkHash),
  }));
}

function shortened(hash: Buffer | null): string | null {
  return hash?.toString("hex").slice(0, 8) ?? null;
}
