import { boundedText } from "@intermission/server/parse-request";
import { z } from "zod";
import type { AdDatabase, AdTransaction } from "../ad-database.ts";
import { rememberAdvertiser } from "../advertisers/advertisers.ts";
import { type CampaignFault, type CampaignSettings, campaignFault, defaultSettings } from "./campaign-settings.ts";
import { type Campaign, columnsOf, findCampaign } from "./campaigns.ts";
import type { CampaignFormat, CampaignStatus } from "./schema.ts";

/** The required settings of a new campaign; the others have defaults. */
export type CampaignDraft = Pick<CampaignSettings, "name" | "advertiser"> &
  Partial<CampaignSettings> & { formats: CampaignFormat[]; creativeIds?: string[] };

export type AddCampaignOutcome =
  | { outcome: "added"; campaign: Campaign }
  | { outcome: "invalid"; fault: CampaignFault }
  | { outcome: "unknown-creative"; creativeId: string };

export async function addCampaign(
  database: AdDatabase,
  { campaignId, now, creativeIds = [], ...draft }: CampaignDraft & { campaignId: string; now: Date },
): Promise<AddCampaignOutcome> {
  const settings = { ...defaultSettings, ...draft };
  const fault = campaignFault(settings) ?? creativesFault(draft.formats, creativeIds);
  if (fault !== undefined) return { outcome: "invalid", fault };
  return database.transaction(async (tx) => {
    const unknown = await firstUnknown(tx, creativeIds);
    if (unknown !== undefined) return { outcome: "unknown-creative", creativeId: unknown };
    const advertiser = await rememberAdvertiser(tx, settings.advertiser);
    const made = { campaign_id: campaignId, formats: draft.formats, created_at: now, updated_at: now };
    await tx.query
      .insertInto("campaigns")
      .values({ ...columnsOf({ ...settings, advertiser }), ...made })
      .execute();
    for (const creativeId of creativeIds) {
      const shown = { campaign_id: campaignId, creative_id: creativeId };
      await tx.query.insertInto("campaign_creatives").values(shown).execute();
    }
    const campaign = await findCampaign(tx, campaignId);
    if (!campaign) throw new Error("the campaign disappeared while it was added");
    return { outcome: "added", campaign };
  });
}

function creativesFault(formats: CampaignFormat[], creativeIds: string[]): CampaignFault | undefined {
  if (formats.includes("rewarded") === creativeIds.length > 0) return undefined;
  const message = formats.includes("rewarded")
    ? "a rewarded campaign needs a video"
    : "a campaign of direct links has a landing URL and no video";
  return { field: "creativeIds", message };
}

async function firstUnknown(tx: AdTransaction, creativeIds: string[]): Promise<string | undefined> {
  for (const creativeId of creativeIds) {
    const query = tx.query.selectFrom("creatives").select("creative_id").where("creative_id", "=", creativeId);
    if (!(await query.executeTakeFirst())) return creativeId;
  }
  return undefined;
}

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

/** How a campaign shows a creative; omitted settings keep their value, or default to the campaign's. */
export const creativeSettings = z.strictObject({
  weight: z
    .int("must be a whole number")
    .min(1, "must be 1 or more")
    .max(1_000_000, "must be 1000000 at most")
    .optional(),
  label: boundedText(128).nullable().optional(),
  callToAction: boundedText(40).nullable().optional(),
});
export type CreativeSettings = z.infer<typeof creativeSettings>;

export type AttachCreativeOutcome =
  | { outcome: "changed"; campaign: Campaign }
  | { outcome: "unknown-campaign" }
  | { outcome: "unknown-creative" }
  | { outcome: "invalid"; message: string };

/** Attaches a creative to a campaign, attaches it again after it was detached, or changes its settings. */
export async function attachCreative(
  database: AdDatabase,
  input: { campaignId: string; creativeId: string; settings: CreativeSettings; now: Date },
): Promise<AttachCreativeOutcome> {
  const { campaignId, creativeId, now } = input;
  const { label, callToAction, weight } = input.settings;
  const given = {
    ...(weight !== undefined && { weight }),
    ...(label !== undefined && { label }),
    ...(callToAction !== undefined && { call_to_action: callToAction }),
  };
  return changed(database, { campaignId, now }, async (tx, campaign) => {
    if (!campaign.formats.includes("rewarded")) {
      return { outcome: "invalid", message: "a campaign of direct links has a landing URL and no video" };
    }
    const known = tx.query.selectFrom("creatives").select("creative_id").where("creative_id", "=", creativeId);
    if (!(await known.executeTakeFirst())) return { outcome: "unknown-creative" };
    await tx.query
      .insertInto("campaign_creatives")
      .values({ campaign_id: campaignId, creative_id: creativeId, ...given })
      .onConflict((conflict) =>
        conflict.columns(["campaign_id", "creative_id"]).doUpdateSet({ ...given, is_active: true }),
      )
      .execute();
    return undefined;
  });
}

/** Stops showing a creative to new viewers. Views in progress continue, and its statistics stay. */
export async function detachCreative(
  database: AdDatabase,
  { campaignId, creativeId, now }: { campaignId: string; creativeId: string; now: Date },
): Promise<AttachCreativeOutcome> {
  return changed(database, { campaignId, now }, async (tx, campaign) => {
    const shown = campaign.creatives.filter(({ isActive }) => isActive);
    if (!campaign.creatives.some((creative) => creative.creativeId === creativeId))
      return { outcome: "unknown-creative" };
    if (shown.every((creative) => creative.creativeId === creativeId)) {
      return {
        outcome: "invalid",
        message: "it is the campaign's last video; pause the campaign, or attach another first",
      };
    }
    await tx.query
      .updateTable("campaign_creatives")
      .set({ is_active: false })
      .where("campaign_id", "=", campaignId)
      .where("creative_id", "=", creativeId)
      .execute();
    return undefined;
  });
}

async function changed(
  database: AdDatabase,
  { campaignId, now }: { campaignId: string; now: Date },
  change: (
    tx: AdTransaction,
    campaign: Campaign,
  ) => Promise<Exclude<AttachCreativeOutcome, { outcome: "changed" }> | undefined>,
): Promise<AttachCreativeOutcome> {
  return database.transaction(async (tx) => {
    const lock = tx.query
      .selectFrom("campaigns")
      .select("campaign_id")
      .where("campaign_id", "=", campaignId)
      .forUpdate();
    await lock.execute();
    const before = await findCampaign(tx, campaignId);
    if (!before) return { outcome: "unknown-campaign" };
    const refusal = await change(tx, before);
    if (refusal) return refusal;
    await tx.query.updateTable("campaigns").set({ updated_at: now }).where("campaign_id", "=", campaignId).execute();
    const campaign = await findCampaign(tx, campaignId);
    return campaign ? { outcome: "changed", campaign } : { outcome: "unknown-campaign" };
  });
}
