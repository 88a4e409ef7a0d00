import type { AdDatabase } from "../ad-database.ts";
import { type Campaign, campaignOf, selectCampaigns } from "./rows.ts";

/** All campaigns, oldest first; an operator has tens of them. Archived ones only on request. */
export async function listCampaigns(
  database: AdDatabase,
  { hasArchived = false }: { hasArchived?: boolean } = {},
): Promise<Campaign[]> {
  const query = selectCampaigns(database).orderBy("created_at").orderBy("campaign_id");
  const rows = await (hasArchived ? query : query.where("status", "<>", "archived")).execute();
  return rows.map(campaignOf);
}
