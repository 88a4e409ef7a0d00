import { statement } from "@intermission/postgres/open-database";
import type { HttpError } from "@intermission/server/http-server";
import { notFound } from "@intermission/server/refuse";
import { type Selectable, sql } from "kysely";
import type { AdDatabase, AdTransaction } from "../ad-database.ts";
import type { CampaignSettings } from "./campaign-settings.ts";
import type { CampaignFormat, CampaignStatus, CampaignTables } from "./schema.ts";

/** A creative with the settings of its campaign. */
export interface CampaignCreative {
  creativeId: string;
  weight: number;
  /** Replaces the advertiser's name. */
  label: string | null;
  /** Replaces the campaign's call to action. */
  callToAction: string | null;
  isActive: boolean;
}

export interface Campaign extends CampaignSettings {
  campaignId: string;
  formats: CampaignFormat[];
  status: CampaignStatus;
  creatives: CampaignCreative[];
  createdAt: Date;
  updatedAt: Date;
}

export async function findCampaign(database: AdTransaction, campaignId: string): Promise<Campaign | undefined> {
  const row = await selectCampaigns(database).where("campaign_id", "=", campaignId).executeTakeFirst();
  return row && campaignOf(row);
}

/** Campaigns with the creatives that they show. */
export function selectCampaigns(database: AdTransaction) {
  return database.query
    .selectFrom("campaigns")
    .selectAll()
    .select(
      sql<CampaignCreative[]>`coalesce((
        select jsonb_agg(jsonb_build_object('creativeId', creative_id, 'weight', weight, 'label', label,
          'callToAction', call_to_action, 'isActive', is_active) order by creative_id)
        from campaign_creatives where campaign_creatives.campaign_id = campaigns.campaign_id), '[]')`.as("creatives"),
    );
}

export function campaignOf(row: Selectable<CampaignTables["campaigns"]> & { creatives: CampaignCreative[] }): Campaign {
  return {
    campaignId: row.campaign_id,
    name: row.name,
    advertiser: row.advertiser,
    formats: row.formats,
    status: row.status,
    priority: row.priority,
    category: row.category,
    pacing: row.pacing,
    startsAt: row.starts_at,
    endsAt: row.ends_at,
    landingUrl: row.landing_url,
    callToAction: row.call_to_action,
    weight: row.weight,
    viewPriceMicros: row.view_price_micros,
    clickPriceMicros: row.click_price_micros,
    totalBudgetMicros: row.total_budget_micros,
    dailyBudgetMicros: row.daily_budget_micros,
    totalViewCap: row.total_view_cap,
    dailyViewCap: row.daily_view_cap,
    totalClickCap: row.total_click_cap,
    dailyClickCap: row.daily_click_cap,
    userCap: row.user_cap,
    userCapSeconds: row.user_cap_seconds,
    targeting: row.targeting,
    creatives: row.creatives,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

/** The columns that an operator sets. */
export function columnsOf(settings: CampaignSettings) {
  return {
    name: settings.name,
    advertiser: settings.advertiser,
    priority: settings.priority,
    category: settings.category,
    pacing: settings.pacing,
    starts_at: settings.startsAt,
    ends_at: settings.endsAt,
    landing_url: settings.landingUrl,
    call_to_action: settings.callToAction,
    weight: settings.weight,
    view_price_micros: settings.viewPriceMicros,
    click_price_micros: settings.clickPriceMicros,
    total_budget_micros: settings.totalBudgetMicros,
    daily_budget_micros: settings.dailyBudgetMicros,
    total_view_cap: settings.totalViewCap,
    daily_view_cap: settings.dailyViewCap,
    total_click_cap: settings.totalClickCap,
    daily_click_cap: settings.dailyClickCap,
    user_cap: settings.userCap,
    user_cap_seconds: settings.userCapSeconds,
    targeting: JSON.stringify(settings.targeting),
  };
}

/** All campaigns, oldest first; an operator has tens of them. Archived ones only on request. */
export async function listCampaigns(
  database: AdDatabase,
  { hasArchived = false }: { hasArchived?: boolean } = {},
): Promise<Campaign[]> {
  const query = selectCampaigns(database).orderBy("created_at").orderBy("campaign_id");
  const rows = await (hasArchived ? query : query.where("status", "<>", "archived")).execute();
  return rows.map(campaignOf);
}

const knownCampaign = statement<{ id: string }>(
  "campaigns.known",
  "select campaign_id as id from campaigns where campaign_id = $1",
);

/** Refuses an unknown id with 404. Undefined is skipped. */
export async function requireCampaign(database: AdDatabase, campaignId: string | undefined): Promise<void> {
  if (campaignId === undefined) return;
  if ((await database.run(knownCampaign, [campaignId])).length === 0) throw unknownCampaign(campaignId);
}

export function unknownCampaign(campaignId: string): HttpError {
  return notFound(`there is no campaign ${campaignId}; see all with: campaigns list`);
}
