import type { Selectable } from "kysely";
import type { AdDatabase, AdTransaction } from "../ad-database.ts";
import type { BotTables, DeliveryMode } from "./schema.ts";

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
  createdAt: Date;
  updatedAt: Date;
}

export async function readBot(database: AdDatabase | AdTransaction, botId: string): Promise<Bot | undefined> {
  const row = await database.query.selectFrom("bots").selectAll().where("bot_id", "=", botId).executeTakeFirst();
  return row && botOf(row);
}

export function botOf(row: Selectable<BotTables["bots"]>): Bot {
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
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}
