import type { Campaign, CampaignSettings, CreativeSettings } from "@intermission/operator-api/campaigns";
import { fieldFault } from "@intermission/operator-api/field-forms";
import { type Database, statement, type Transaction } from "@intermission/postgres/open-database";
import { byColumn } from "@intermission/postgres/row-columns";
import { nextVersion } from "@intermission/postgres/row-version";
import { rememberAdvertiser } from "../advertisers/advertisers.ts";
import {
  type CampaignFault,
  type CampaignFormat,
  type CampaignStatus,
  campaignFault,
  defaultSettings,
  settingColumns,
} from "./campaign-settings.ts";
import { findCampaign } from "./campaigns.ts";

/** The required settings of a new campaign; the others have defaults. */
export type CampaignDraft = Pick<CampaignSettings, "name" | "advertiser"> &
  Partial<CampaignSettings> & { formats: CampaignFormat[]; creativeIds?: string[] };

export type AddCampaignOutcome =
  | { outcome: "added"; campaign: Campaign }
  /** By a request with the same id. */
  | { outcome: "added-before"; campaign: Campaign }
  | { outcome: "invalid"; fault: CampaignFault }
  | { outcome: "unknown-creative"; creativeId: string };

const settable = Object.values(settingColumns).join(", ");
// $4 of both: all settings by column, as JSON; $5: the advertiser.
const insert = statement<{ id: string }>(
  "campaigns.insert",
  `insert into campaigns (campaign_id, formats, created_at, updated_at, advertiser_id, ${settable})
   select $1, $2, $3, $3, $5, ${settable} from jsonb_populate_record(null::campaigns, $4::jsonb)
   on conflict (campaign_id) do nothing returning campaign_id as id`,
);
const update = statement<Pick<Campaign, "updatedAt">>(
  "campaigns.update",
  `update campaigns set (status, updated_at, advertiser_id, ${settable}) =
     (select $2::text, ${nextVersion("campaigns", "$3")}, $5::text, ${settable} from jsonb_populate_record(null::campaigns, $4::jsonb))
   where campaign_id = $1 returning updated_at as "updatedAt"`,
);
const lock = statement<never>("campaigns.lock", "select from campaigns where campaign_id = $1 for update");
const touch = statement<never>(
  "campaigns.touch",
  `update campaigns set updated_at = ${nextVersion("campaigns", "$2")} where campaign_id = $1`,
);

const findCreatives = statement<{ id: string }>(
  "campaigns.find-creatives",
  "select creative_id as id from creatives where creative_id = any($1)",
);
const attach = statement<never>(
  "campaigns.attach-creative",
  `insert into campaign_creatives (campaign_id, creative_id, weight, label, call_to_action)
   values ($1, $2, $3, $4, $5)
   on conflict (campaign_id, creative_id) do update set weight = excluded.weight, label = excluded.label,
     call_to_action = excluded.call_to_action, is_active = true`,
);
const detach = statement<never>(
  "campaigns.detach-creative",
  "update campaign_creatives set is_active = false where campaign_id = $1 and creative_id = $2",
);

export async function addCampaign(
  database: Database,
  { campaignId, now, creativeIds = [], ...draft }: CampaignDraft & { campaignId: string; now: Date },
): Promise<AddCampaignOutcome> {
  const settings = { ...defaultSettings, ...draft };
  const fault = campaignFault(settings) ?? creativesFault(draft.formats, creativeIds);
  if (fault !== undefined) return { outcome: "invalid", fault };
  return database.transaction(async (tx) => {
    const unknown = await firstUnknown(tx, creativeIds);
    if (unknown !== undefined) return { outcome: "unknown-creative", creativeId: unknown };
    const advertiser = await rememberAdvertiser(tx, settings.advertiser);
    if (advertiser.state === "archived") return { outcome: "invalid", fault: archivedFault(advertiser.name) };
    const ofSample = await sampleFault(tx, advertiser.advertiserId, settings);
    if (ofSample !== undefined) return { outcome: "invalid", fault: ofSample };
    const columns = JSON.stringify(byColumn(settingColumns, settings));
    const inserted = await tx.run(insert, [campaignId, draft.formats, now, columns, advertiser.advertiserId]);
    if (inserted.length > 0)
      for (const creativeId of creativeIds) await tx.run(attach, [campaignId, creativeId, 1, null, null]);
    const campaign = await findCampaign(tx, campaignId);
    if (!campaign) throw new Error("the campaign disappeared while it was added");
    return { outcome: inserted.length > 0 ? "added" : "added-before", campaign };
  });
}

const findCharge = statement<{ day: string }>(
  "campaigns.find-charge",
  "select day::text from campaign_days where campaign_id = $1 and spent_micros > 0 limit 1",
);

// Waits until no node settles charges, and keeps all from it until the transaction ends.
const holdSettlement = statement<never>(
  "campaigns.hold-settlement",
  "select from money_progress order by source for update",
);

/** What it spent stands on its advertiser's account. */
async function chargedFault(tx: Transaction, campaignId: string): Promise<CampaignFault | undefined> {
  await tx.run(holdSettlement, []);
  if ((await tx.run(findCharge, [campaignId])).length === 0) return undefined;
  const message = "was charged for this campaign, which stays with it: rename the advertiser, or add another campaign";
  return { field: "advertiser", message, fault: fieldFault("ADVERTISER_CHARGED") };
}

const readSampleBots = statement<{ botIds: string[] }>(
  "campaigns.read-sample-bots",
  'select bot_ids as "botIds" from sample where $1 = any (advertiser_ids)',
);

/** A sample is never billed as real: its campaigns reach no real bot. */
async function sampleFault(
  tx: Transaction,
  advertiserId: string,
  { targeting }: Pick<CampaignSettings, "targeting">,
): Promise<CampaignFault | undefined> {
  const [sample] = await tx.run(readSampleBots, [advertiserId]);
  if (sample === undefined) return undefined;
  const { bots = [] } = targeting;
  if (bots.length > 0 && bots.every((botId) => sample.botIds.includes(botId))) return undefined;
  const message = `must name bots of the sample alone (${sample.botIds.join(", ")}), since the advertiser is the sample's`;
  return { field: "targeting", message, fault: fieldFault("SAMPLE_BOTS_ONLY") };
}

function archivedFault(name: string): CampaignFault {
  const message = `${name} is archived; restore it first: advertisers restore`;
  return { field: "advertiser", message, fault: fieldFault("ADVERTISER_ARCHIVED", { name }) };
}

function creativesFault(formats: CampaignFormat[], creativeIds: string[]): CampaignFault | undefined {
  if (formats.includes("rewarded") === creativeIds.length > 0) return undefined;
  if (formats.includes("rewarded")) {
    return { field: "creativeIds", message: "a rewarded campaign needs a video", fault: fieldFault("VIDEO_NEEDED") };
  }
  const message = "a campaign of direct links has a landing URL and no video";
  return { field: "creativeIds", message, fault: fieldFault("LINK_NEEDS_NO_VIDEO") };
}

async function firstUnknown(tx: Transaction, creativeIds: string[]): Promise<string | undefined> {
  const known = new Set((await tx.run(findCreatives, [creativeIds])).map(({ id }) => id));
  return creativeIds.find((creativeId) => !known.has(creativeId));
}

export type UpdateCampaignOutcome =
  | { outcome: "updated"; campaign: Campaign }
  | { outcome: "unknown-campaign" }
  | { outcome: "archived" }
  | { outcome: "changed-since" }
  | { outcome: "invalid"; fault: CampaignFault };

/**
 * Changes the given settings, and the status where it is reverted. Past charges keep their price; a view in progress is charged
 * what it costs when it ends.
 * `expectedUpdatedAt`: nothing is changed if the campaign was changed after it.
 */
export async function updateCampaign(
  database: Database,
  { changes, ...input }: Change & { changes: Partial<CampaignSettings & Pick<Campaign, "status">> },
): Promise<UpdateCampaignOutcome> {
  return change(database, input, (campaign) => ({ ...campaign, ...changes }));
}

/** `archived` is permanent. */
export async function setCampaignStatus(
  database: Database,
  { campaignId, status, now }: { campaignId: string; status: CampaignStatus; now: Date },
): Promise<UpdateCampaignOutcome> {
  return change(database, { campaignId, now }, (campaign) => ({ ...campaign, status }));
}

interface Change {
  campaignId: string;
  now: Date;
  expectedUpdatedAt?: Date | undefined;
}

async function change(
  database: Database,
  { campaignId, now, expectedUpdatedAt }: Change,
  changed: (campaign: Campaign) => Campaign,
): Promise<UpdateCampaignOutcome> {
  return database.transaction(async (tx) => {
    await tx.run(lock, [campaignId]);
    const before = await findCampaign(tx, campaignId);
    if (!before) return { outcome: "unknown-campaign" };
    if (before.status === "archived") return { outcome: "archived" };
    if (expectedUpdatedAt !== undefined && before.updatedAt.getTime() !== expectedUpdatedAt.getTime())
      return { outcome: "changed-since" };
    const changes = changed(before);
    const fault = campaignFault(changes);
    if (fault !== undefined) return { outcome: "invalid", fault };
    const { advertiserId, name: advertiser, state } = await rememberAdvertiser(tx, changes.advertiser);
    if (advertiserId !== before.advertiserId) {
      const fault = state === "archived" ? archivedFault(advertiser) : await chargedFault(tx, campaignId);
      if (fault !== undefined) return { outcome: "invalid", fault };
    }
    const ofSample = await sampleFault(tx, advertiserId, changes);
    if (ofSample !== undefined) return { outcome: "invalid", fault: ofSample };
    const columns = JSON.stringify(byColumn(settingColumns, changes));
    const [stored] = await tx.run(update, [campaignId, changes.status, now, columns, advertiserId]);
    if (!stored) throw new Error("the campaign disappeared while it was changed");
    return { outcome: "updated", campaign: { ...changes, ...stored, advertiserId, advertiser } };
  });
}

/** How a campaign shows a creative; omitted settings keep their value, or default to the campaign's. */
export type AttachCreativeOutcome =
  | { outcome: "changed"; campaign: Campaign }
  | { outcome: "unknown-campaign" }
  | { outcome: "unknown-creative" }
  | { outcome: "invalid"; fault: CampaignFault };

/** Attaches a creative to a campaign, attaches it again after it was detached, or changes its settings. */
export async function attachCreative(
  database: Database,
  input: { campaignId: string; creativeId: string; settings: CreativeSettings; now: Date },
): Promise<AttachCreativeOutcome> {
  const { campaignId, creativeId, now } = input;
  const { label, callToAction, weight } = input.settings;
  return changed(database, { campaignId, now }, async (tx, campaign) => {
    if (!campaign.formats.includes("rewarded")) {
      const message = "a campaign of direct links has a landing URL and no video";
      const fault = { field: "creativeIds", message, fault: fieldFault("LINK_NEEDS_NO_VIDEO") } as const;
      return { outcome: "invalid", fault };
    }
    if ((await firstUnknown(tx, [creativeId])) !== undefined) return { outcome: "unknown-creative" };
    const attached = campaign.creatives.find((creative) => creative.creativeId === creativeId);
    const settings = {
      weight: weight ?? attached?.weight ?? 1,
      label: label === undefined ? (attached?.label ?? null) : label,
      callToAction: callToAction === undefined ? (attached?.callToAction ?? null) : callToAction,
    };
    await tx.run(attach, [campaignId, creativeId, settings.weight, settings.label, settings.callToAction]);
    return undefined;
  });
}

/** Stops showing a creative to new viewers. Views in progress continue, and its statistics stay. */
export async function detachCreative(
  database: Database,
  { campaignId, creativeId, now }: { campaignId: string; creativeId: string; now: Date },
): Promise<AttachCreativeOutcome> {
  return changed(database, { campaignId, now }, async (tx, campaign) => {
    const shown = campaign.creatives.filter(({ isActive }) => isActive);
    if (!campaign.creatives.some((creative) => creative.creativeId === creativeId))
      return { outcome: "unknown-creative" };
    if (shown.every((creative) => creative.creativeId === creativeId)) {
      const message = "it is the campaign's last video; pause the campaign, or attach another first";
      return { outcome: "invalid", fault: { field: "creativeIds", message, fault: fieldFault("LAST_VIDEO") } };
    }
    await tx.run(detach, [campaignId, creativeId]);
    return undefined;
  });
}

async function changed(
  database: Database,
  { campaignId, now }: { campaignId: string; now: Date },
  change: (
    tx: Transaction,
    campaign: Campaign,
  ) => Promise<Exclude<AttachCreativeOutcome, { outcome: "changed" }> | undefined>,
): Promise<AttachCreativeOutcome> {
  return database.transaction(async (tx) => {
    await tx.run(lock, [campaignId]);
    const before = await findCampaign(tx, campaignId);
    if (!before) return { outcome: "unknown-campaign" };
    const refusal = await change(tx, before);
    if (refusal) return refusal;
    await tx.run(touch, [campaignId, now]);
    const campaign = await findCampaign(tx, campaignId);
    return campaign ? { outcome: "changed", campaign } : { outcome: "unknown-campaign" };
  });
}
