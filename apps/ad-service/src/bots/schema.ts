export type DeliveryMode = "at-least-once" | "at-most-once";

/** The columns that the deliveries query. */
export interface BotTables {
  bots: { bot_id: string };
  bot_tokens: { bot_id: string; state: string };
}
