import type { Database, Transaction } from "@intermission/postgres/open-database";
import type { BotTables } from "./bots/schema.ts";
import type { WebhookDeliveryTables } from "./deliveries/schema.ts";

export type AdTables = BotTables & WebhookDeliveryTables;

export type AdDatabase = Database<AdTables>;
export type AdTransaction = Transaction<AdTables>;
