import type { Selectable } from "kysely";
import type { AdDatabase } from "../ad-database.ts";
import type { CampaignFormat, CampaignTables } from "./schema.ts";

export interface Campaign {
  campaignId: string;
  name: string;
  advertiser: string;
  format: CampaignFormat;
  creativeId: string | null;
  landingUrl: string | null;
  callToAction: string | null;
  weight: number;
  priceMicros: number;
  isActive: boolean;
  createdAt: Date;
  updatedAt: Date;
}

export async function findCampaign(database: AdDatabase, campaignId: string): Promise<Campaign | undefined> {
  const row = await database.query
    .selectFrom("campaigns")
    .selectAll()
    .where("campaign_id", "=", campaignId)
    .executeTakeFirst();
  return row && campaignOf(row);
}

export function campaignOf(row: Selectable<CampaignTables["campaigns"]>): Campaign {
  return {
    campaignId: row.campaign_id,
    name: row.name,
    advertiser: row.advertiser,
    format: row.format,
    creativeId: row.creative_id,
    landingUrl: row.landing_url,
    callToAction: row.call_to_action,
    weight: row.weight,
    priceMicros: row.price_micros,
    isActive: row.is_active,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}
