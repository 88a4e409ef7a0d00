import { boundedText } from "@intermission/server/parse-request";
import { z } from "zod";
import type { AdDatabase, AdTransaction } from "../ad-database.ts";
import { type Campaign, findCampaign } from "./rows.ts";

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
