import { audienceKeys } from "../viewers/audience.ts";

/**
 * What the sums of a table are of: of each bot and campaign, or of one of both over all of the other. Every fact is added to
 * a table of each level, so that a report reads the one with the fewest rows that still tells apart what it asks for.
 */
export const sumLevels = ["bot-and-campaign", "bot", "campaign"] as const;
type SumLevel = (typeof sumLevels)[number];

export interface SumTable {
  table: string;
  /** Beside the columns that are summed. */
  key: readonly string[];
}

const time = ["span", "starts_at"];
const campaign = ["campaign_id", "creative_id"];
const reason = ["measure", "reason"];

/** Sums of all measures and of the money. */
export const sumTables: Record<SumLevel, SumTable> = {
  "bot-and-campaign": { table: "stats_sums", key: [...time, "bot_id", ...campaign] },
  bot: { table: "stats_bot_sums", key: [...time, "bot_id"] },
  campaign: { table: "stats_campaign_sums", key: [...time, ...campaign] },
};

/** The same sums by audience; not by creative. */
export const audienceTables: Record<SumLevel, SumTable> = {
  "bot-and-campaign": { table: "stats_audiences", key: [...time, "bot_id", "campaign_id", ...audienceKeys] },
  bot: { table: "stats_bot_audiences", key: [...time, "bot_id", ...audienceKeys] },
  campaign: { table: "stats_campaign_audiences", key: [...time, "campaign_id", ...audienceKeys] },
};

/** Counts by reason, of the measures that have reasons. */
export const reasonTables: Record<SumLevel, SumTable> = {
  "bot-and-campaign": { table: "stats_reasons", key: [...time, "bot_id", ...campaign, ...reason] },
  bot: { table: "stats_bot_reasons", key: [...time, "bot_id", ...reason] },
  campaign: { table: "stats_campaign_reasons", key: [...time, ...campaign, ...reason] },
};

/** Where a report reads: `needsBot` and `needsCampaign` if it is split or filtered by bots, or by campaigns or creatives. */
export function levelOf({ needsBot, needsCampaign }: { needsBot: boolean; needsCampaign: boolean }): SumLevel {
  if (!needsCampaign) return "bot";
  return needsBot ? "bot-and-campaign" : "campaign";
}
