import type { AdDatabase } from "../ad-database.ts";
import { type Campaign, campaignOf } from "./rows.ts";

/** All of them, oldest first: an operator has tens. */
export async function listCampaigns(database: AdDatabase): Promise<Campaign[]> {
  const rows = await database.query
    .selectFrom("campaigns")
    .selectAll()
    .orderBy("created_at")
    .orderBy("campaign_id")
    .execute();
  return rows.map(campaignOf);
}
