import type { Selectable } from "kysely";
import type { AdDatabase, AdTransaction } from "../ad-database.ts";
import type { BotTables, DeliveryMode, SuspiciousViews } from "./schema.ts";

export interface Bot {
  botId: string;
  codePrefix: string;
  name: string;
  /** Without the @. */
  username: string | null;
  isSuspended: boolean;
  webhookUrl: string | null;
  publisherApiUrl: string | null;
  deliveryMode: DeliveryMode;
  codeLifetimeSeconds: number;
  cooldownSeconds: number;
  dailyCap: number;
  testers: string[];
  category: string | null;
  timeZone: string;
  blockedCategories: string[];
  blockedAdvertisers: string[];
  suspiciousViews: SuspiciousViews;
  suspiciousClicks: SuspiciousViews;
  createdAt: Date;
  updatedAt: Date;
}

export async function readBot(database: AdDatabase | AdTransaction, botId: string): Promise<Bot | undefined> {
  const row = await selectBots(database).where("bots.bot_id", "=", botId).executeTakeFirst();
  return row && botOf(row);
}

/** Selects bots, each with the address of its endpoint. */
export function selectBots(database: AdDatabase | AdTransaction) {
  return database.query
    .selectFrom("bots")
    .leftJoin("endpoints", "endpoints.bot_id", "bots.bot_id")
    .selectAll("bots")
    .select("endpoints.url as webhook_url");
}

export function botOf(row: Selectable<BotTables["bots"]> & { webhook_url: string | null }): Bot {
  return {
    botId: row.bot_id,
    codePrefix: row.code_prefix,
    name: row.name,
    username: row.username,
    isSuspended: row.is_suspended,
    webhookUrl: row.webhook_url,
    publisherApiUrl: row.publisher_api_url,
    deliveryMode: row.delivery_mode,
    codeLifetimeSeconds: row.code_lifetime_seconds,
    cooldownSeconds: row.cooldown_seconds,
    dailyCap: row.daily_cap,
    testers: row.testers,
    category: row.category,
    timeZone: row.time_zone,
    blockedCategories: row.blocked_categories,
    blockedAdvertisers: row.blocked_advertisers,
    suspiciousViews: row.suspicious_views,
    suspiciousClicks: row.suspicious_clicks,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}
