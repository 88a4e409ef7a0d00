import type { AdDatabase, AdTransaction } from "../ad-database.ts";
import { rememberAdvertiser } from "../advertisers/advertiser-names.ts";
import { type CampaignFault, campaignFault } from "./campaign-fault.ts";
import { type CampaignSettings, defaultSettings } from "./campaign-settings.ts";
import { type Campaign, columnsOf, findCampaign } from "./rows.ts";
import type { CampaignFormat } from "./schema.ts";

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
