import type { AdDatabase } from "../ad-database.ts";
import { type CampaignDraft, campaignFault } from "./campaign-fault.ts";
import { type Campaign, campaignOf } from "./rows.ts";

/** What an operator may change later; the video and the format stay, so that what was charged keeps its meaning. */
export type CampaignChanges = Partial<
  Pick<CampaignDraft, "name" | "advertiser" | "landingUrl" | "callToAction" | "weight" | "priceMicros">
> & { isActive?: boolean | undefined };

export type UpdateCampaignOutcome =
  | { outcome: "updated"; campaign: Campaign }
  | { outcome: "unknown-campaign" }
  | { outcome: "invalid"; message: string };

export async function updateCampaign(
  database: AdDatabase,
  { campaignId, changes, now }: { campaignId: string; changes: CampaignChanges; now: Date },
): Promise<UpdateCampaignOutcome> {
  return database.transaction(async (tx) => {
    const query = tx.query.selectFrom("campaigns").selectAll().where("campaign_id", "=", campaignId).forUpdate();
    const row = await query.executeTakeFirst();
    if (!row) return { outcome: "unknown-campaign" };
    const campaign = changedCampaign(campaignOf(row), changes, now);
    const message = campaignFault({
      ...campaign,
      creativeId: campaign.creativeId ?? undefined,
      landingUrl: campaign.landingUrl ?? undefined,
      callToAction: campaign.callToAction ?? undefined,
    });
    if (message !== undefined) return { outcome: "invalid", message };
    await tx.query
      .updateTable("campaigns")
      .set({
        name: campaign.name,
        advertiser: campaign.advertiser,
        landing_url: campaign.landingUrl,
        call_to_action: campaign.callToAction,
        weight: campaign.weight,
        price_micros: campaign.priceMicros,
        is_active: campaign.isActive,
        updated_at: now,
      })
      .where("campaign_id", "=", campaignId)
      .execute();
    return { outcome: "updated", campaign };
  });
}

export function pauseCampaign(database: AdDatabase, { campaignId, now }: { campaignId: string; now: Date }) {
  return updateCampaign(database, { campaignId, changes: { isActive: false }, now });
}

export function resumeCampaign(database: AdDatabase, { campaignId, now }: { campaignId: string; now: Date }) {
  return updateCampaign(database, { campaignId, changes: { isActive: true }, now });
}

function changedCampaign(campaign: Campaign, changes: CampaignChanges, now: Date): Campaign {
  return {
    ...campaign,
    name: changes.name ?? campaign.name,
    advertiser: changes.advertiser ?? campaign.advertiser,
    landingUrl: changes.landingUrl ?? campaign.landingUrl,
    callToAction: changes.callToAction ?? campaign.callToAction,
    weight: changes.weight ?? campaign.weight,
    priceMicros: changes.priceMicros ?? campaign.priceMicros,
    isActive: changes.isActive ?? campaign.isActive,
    updatedAt: now,
  };
}
