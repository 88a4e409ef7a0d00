import type { AdDatabase } from "../ad-database.ts";
import { type CampaignDraft, campaignFault } from "./campaign-fault.ts";
import { type Campaign, campaignOf } from "./rows.ts";

export type AddCampaignOutcome =
  | { outcome: "added"; campaign: Campaign }
  | { outcome: "invalid"; message: string }
  | { outcome: "unknown-creative" };

export async function addCampaign(
  database: AdDatabase,
  draft: CampaignDraft & { campaignId: string; now: Date },
): Promise<AddCampaignOutcome> {
  const message = campaignFault(draft);
  if (message !== undefined) return { outcome: "invalid", message };
  if (draft.creativeId !== undefined && !(await hasCreative(database, draft.creativeId))) {
    return { outcome: "unknown-creative" };
  }
  const row = await database.query
    .insertInto("campaigns")
    .values({
      campaign_id: draft.campaignId,
      name: draft.name,
      advertiser: draft.advertiser,
      format: draft.format,
      creative_id: draft.creativeId ?? null,
      landing_url: draft.landingUrl ?? null,
      call_to_action: draft.callToAction ?? null,
      weight: draft.weight,
      price_micros: draft.priceMicros,
      created_at: draft.now,
      updated_at: draft.now,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  return { outcome: "added", campaign: campaignOf(row) };
}

async function hasCreative(database: AdDatabase, creativeId: string): Promise<boolean> {
  const row = await database.query
    .selectFrom("creatives")
    .select("creative_id")
    .where("creative_id", "=", creativeId)
    .executeTakeFirst();
  return row !== undefined;
}
