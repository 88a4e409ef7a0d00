import type { AdDatabase } from "../ad-database.ts";
import { rememberAdvertiser } from "../advertisers/advertiser-names.ts";
import { type CampaignFault, campaignFault } from "./campaign-fault.ts";
import type { CampaignSettings } from "./campaign-settings.ts";
import { type Campaign, columnsOf, findCampaign } from "./rows.ts";
import type { CampaignStatus } from "./schema.ts";

export type UpdateCampaignOutcome =
  | { outcome: "updated"; campaign: Campaign }
  | { outcome: "unknown-campaign" }
  | { outcome: "archived" }
  | { outcome: "invalid"; fault: CampaignFault };

/** Changes the given settings. Past charges and views in progress keep their price. */
export async function updateCampaign(
  database: AdDatabase,
  { campaignId, changes, now }: { campaignId: string; changes: Partial<CampaignSettings>; now: Date },
): Promise<UpdateCampaignOutcome> {
  return change(database, { campaignId, now }, (campaign) => ({ ...campaign, ...changes }));
}

/** `archived` is permanent. */
export async function setCampaignStatus(
  database: AdDatabase,
  { campaignId, status, now }: { campaignId: string; status: CampaignStatus; now: Date },
): Promise<UpdateCampaignOutcome> {
  return change(database, { campaignId, now }, (campaign) => ({ ...campaign, status }));
}

async function change(
  database: AdDatabase,
  { campaignId, now }: { campaignId: string; now: Date },
  changed: (campaign: Campaign) => Campaign,
): Promise<UpdateCampaignOutcome> {
  return database.transaction(async (tx) => {
    const lock = tx.query
      .selectFrom("campaigns")
      .select("campaign_id")
      .where("campaign_id", "=", campaignId)
      .forUpdate();
    await lock.execute();
    const before = await findCampaign(tx, campaignId);
    if (!before) return { outcome: "unknown-campaign" };
    if (before.status === "archived") return { outcome: "archived" };
    const changes = changed(before);
    const fault = campaignFault(changes);
    if (fault !== undefined) return { outcome: "invalid", fault };
    const campaign = { ...changes, advertiser: await rememberAdvertiser(tx, changes.advertiser), updatedAt: now };
    await tx.query
      .updateTable("campaigns")
      .set({ ...columnsOf(campaign), status: campaign.status, updated_at: now })
      .where("campaign_id", "=", campaignId)
      .execute();
    return { outcome: "updated", campaign };
  });
}
