import type { BotSettings } from "./bots.ts";

/** What the publisher of a bot may change. All else changes what advertisers or the operator are owed. */
export const publisherSettings = [
  "webhookUrl",
  "dailyCap",
  "cooldownSeconds",
  "testers",
  "appOrigins",
  "blockedCategories",
  "blockedAdvertisers",
] as const satisfies (keyof BotSettings)[];
