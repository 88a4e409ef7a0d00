import type { Campaign, CampaignCreative } from "@intermission/operator-api/campaigns";
import { type Database, statement, type Transaction } from "@intermission/postgres/open-database";
import { type ColumnsOf, selected } from "@intermission/postgres/row-columns";
import type { HttpError } from "@intermission/server/http-server";
import { notFound } from "@intermission/server/refuse";
import { findAdvertiser } from "../advertisers/advertisers.ts";
import { settingColumns } from "./campaign-settings.ts";

/** What was delivered and charged: counts of views and clicks, and the spend in micros, which is exact in a double. */
export interface Delivered {
  views: number;
  clicks: number;
  spentMicros: number;
}

const creativeColumns = {
  creativeId: "creative_id",
  weight: "weight",
  label: "label",
  callToAction: "call_to_action",
  isActive: "is_active",
  isApproved:
    "(select review = 'approved' from creatives where creatives.creative_id = campaign_creatives.creative_id)",
} satisfies ColumnsOf<CampaignCreative>;

const creativesAsJson = `coalesce((
      select jsonb_agg(
        jsonb_build_object(${Object.entries(creativeColumns)
          .map(([field, column]) => `'${field}', ${column}`)
          .join(", ")})
        order by creative_id)
      from campaign_creatives where campaign_creatives.campaign_id = campaigns.campaign_id), '[]')`;

/** Columns that the review of a drafted campaign writes. */
const reviewColumns = {
  review: "review",
  reviewReason: "review_reason",
  submittedAt: "submitted_at",
  approvedAt: "approved_at",
} satisfies ColumnsOf<Pick<Campaign, "review" | "reviewReason" | "submittedAt" | "approvedAt">>;

/** Columns that a change of a campaign writes, besides its advertiser. */
export const storedColumns = { ...settingColumns, status: "status", pausedBy: "paused_by", ...reviewColumns };

export const campaignColumns = {
  campaignId: "campaign_id",
  advertiserId: "advertiser_id",
  advertiser: "(select name from advertisers where advertisers.advertiser_id = campaigns.advertiser_id)",
  ...settingColumns,
  // Sums of prices may pass 2^53, so that they are read as doubles.
  totalBudgetMicros: "total_budget_micros::float8",
  dailyBudgetMicros: "daily_budget_micros::float8",
  formats: "formats",
  status: "status",
  pausedBy: "paused_by",
  ...reviewColumns,
  creatives: creativesAsJson,
  createdAt: "created_at",
  updatedAt: "updated_at",
} satisfies ColumnsOf<Campaign>;

/** Selects `Campaign` from `campaigns`. */
export const selectCampaigns = `select ${selected(campaignColumns)} from campaigns`;
const find = statement<Campaign>("campaigns.find", `${selectCampaigns} where campaign_id = $1`);

export async function findCampaign(tx: Transaction, campaignId: string): Promise<Campaign | undefined> {
  return (await tx.run(find, [campaignId]))[0];
}

/** The id of an advertiser that a filter names; of an unknown one an id that no campaign has. */
export async function advertiserIdOf(database: Database, named: string | undefined): Promise<string | undefined> {
  return named === undefined ? undefined : ((await findAdvertiser(database, named))?.advertiserId ?? "");
}

const knownCampaign = statement<{ id: string }>(
  "campaigns.known",
  "select campaign_id as id from campaigns where campaign_id = $1",
);

/** Refuses an unknown id with 404. Undefined is skipped. */
export async function requireCampaign(database: Database, campaignId: string | undefined): Promise<void> {
  if (campaignId === undefined) return;
  if ((await database.run(knownCampaign, [campaignId])).length === 0) throw unknownCampaign(campaignId);
}

export function unknownCampaign(campaignId: string): HttpError {
  return notFound(`there is no campaign ${campaignId}; see all with: campaigns list`);
}
