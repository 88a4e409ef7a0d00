import { type CampaignFormat, type CampaignStatus, isViewFormat } from "@intermission/operator-api/campaign-words";
import {
  type Campaign,
  type CampaignSettings,
  type CreativeSettings,
  defaultSettings,
} from "@intermission/operator-api/campaigns";
import { fieldFault } from "@intermission/operator-api/field-forms";
import type { Terms } from "@intermission/operator-api/terms";
import { type Author, audit, openChange } from "@intermission/postgres/audit";
import { type Database, statement, type Transaction } from "@intermission/postgres/open-database";
import { byColumn } from "@intermission/postgres/row-columns";
import { nextVersion } from "@intermission/postgres/row-version";
import { hasTerms, holdAdvertiser, rememberAdvertiser } from "../advertisers/advertisers.ts";
import { creditGate } from "../money/credit-gate.ts";
import { type CampaignFault, campaignFault } from "./campaign-settings.ts";
import { findCampaign, storedColumns } from "./campaigns.ts";

/** The required settings of a new campaign; the others have defaults. */
export type CampaignDraft = Pick<CampaignSettings, "name" | "advertiser"> &
  Partial<CampaignSettings> & { formats: CampaignFormat[]; creativeIds?: string[]; newAdvertiser?: Terms };

export type AddCampaignOutcome =
  | { outcome: "added"; campaign: Campaign }
  /** By a request with the same id. */
  | { outcome: "added-before"; campaign: Campaign }
  | { outcome: "invalid"; fault: CampaignFault }
  | { outcome: "unknown-creative"; creativeId: string }
  /** That are not approved. */
  | { outcome: "too-many-drafts" }
  | { outcome: "too-many-drafts-today" };

const settable = Object.values(storedColumns).join(", ");
// $4 of insert, $3 of update: all of `storedColumns`, as JSON.
const insert = statement<{ id: string }>(
  "campaigns.insert",
  `insert into campaigns (campaign_id, formats, created_at, updated_at, advertiser_id, ${settable})
   select $1, $2, $3, $3, $5, ${settable} from jsonb_populate_record(null::campaigns, $4::jsonb)
   on conflict (campaign_id) do nothing returning campaign_id as id`,
);
const update = statement<Pick<Campaign, "updatedAt">>(
  "campaigns.update",
  `update campaigns set (updated_at, advertiser_id, ${settable}) =
     (select ${nextVersion("campaigns", "$2")}, $4::text, ${settable}
      from jsonb_populate_record(null::campaigns, $3::jsonb))
   where campaign_id = $1 returning updated_at as "updatedAt"`,
);
const lock = statement<never>("campaigns.lock", "select from campaigns where campaign_id = $1 for update");
const touch = statement<never>(
  "campaigns.touch",
  `update campaigns set updated_at = ${nextVersion("campaigns", "$2")} where campaign_id = $1`,
);

// $2: only creatives of this advertiser; null: of all advertisers.
const findCreatives = statement<{ id: string }>(
  "campaigns.find-creatives",
  `select creative_id as id from creatives
   where creative_id = any($1) and ($2::text is null or advertiser_id = $2)`,
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

type StateOf = Pick<Campaign, "status" | "pausedBy" | "review" | "reviewReason" | "submittedAt" | "approvedAt">;
const noReview = { review: null, reviewReason: null, submittedAt: null, approvedAt: null } as const;
/** Initial states: of a campaign that an operator adds, and of an advertiser's draft. */
const states = {
  active: { status: "active", pausedBy: null, ...noReview },
  draft: { status: "paused", pausedBy: "review", ...noReview, review: "draft" },
} as const satisfies Record<string, StateOf>;

class Refused<Outcome> extends Error {
  readonly outcome: Outcome;

  constructor(outcome: Outcome) {
    super("refused");
    this.outcome = outcome;
  }
}

/** Rolls back on refusal, since some writes precede it, such as those of a new advertiser. */
async function storedOrNothing<Outcome extends { outcome: string; campaign?: Campaign }>(
  database: Database,
  run: (tx: Transaction) => Promise<Outcome>,
): Promise<Outcome> {
  try {
    return await database.transaction(async (tx) => {
      const outcome = await run(tx);
      if (outcome.campaign === undefined) throw new Refused(outcome);
      return outcome;
    });
  } catch (error) {
    if (error instanceof Refused) return error.outcome;
    throw error;
  }
}

/** Adds an active campaign or a draft. A draft uses only its advertiser's videos, and the number of drafts is limited. */
export async function addCampaign(
  database: Database,
  {
    campaignId,
    author,
    now,
    creativeIds = [],
    newAdvertiser,
    as = "active",
    ...draft
  }: CampaignDraft & Omit<Change, "expectedUpdatedAt"> & { as?: keyof typeof states },
): Promise<AddCampaignOutcome> {
  const settings = { ...defaultSettings, ...draft };
  const isDraft = as === "draft";
  const fault = campaignFault(settings) ?? creativesFault(draft.formats, { creativeIds, mayLack: isDraft });
  if (fault !== undefined) return { outcome: "invalid", fault };
  return storedOrNothing(database, async (tx): Promise<AddCampaignOutcome> => {
    const change = await openChange(tx, author, campaignId);
    const advertiser = await rememberAdvertiser(
      tx,
      settings.advertiser,
      newAdvertiser && { terms: newAdvertiser, asker: author, credit: creditGate },
    );
    const unknown = await firstUnknown(tx, creativeIds, isDraft ? advertiser.advertiserId : null);
    if (unknown !== undefined) return { outcome: "unknown-creative", creativeId: unknown };
    if (newAdvertiser && !(await hasTerms(tx, advertiser.advertiserId, newAdvertiser)))
      return { outcome: "invalid", fault: knownAdvertiserFault(advertiser.name) };
    if (advertiser.state === "archived") return { outcome: "invalid", fault: archivedFault(advertiser.name) };
    const unfit = (await sampleFault(tx, advertiser.advertiserId, settings)) ?? (await channelFault(tx, settings));
    if (unfit !== undefined) return { outcome: "invalid", fault: unfit };
    const tooMany = isDraft ? await draftsFault(tx, { ...advertiser, now }) : undefined;
    if (tooMany !== undefined) return tooMany;
    const columns = JSON.stringify(byColumn(storedColumns, { ...settings, ...states[as] }));
    const inserted = await tx.run(insert, [campaignId, draft.formats, now, columns, advertiser.advertiserId]);
    if (inserted.length > 0) {
      for (const creativeId of creativeIds) await tx.run(attach, [campaignId, creativeId, 1, null, null]);
      await audit(tx, change);
    }
    const campaign = await findCampaign(tx, campaignId);
    if (!campaign) throw new Error("the campaign disappeared while it was added");
    return { outcome: inserted.length > 0 ? "added" : "added-before", campaign };
  });
}

/** Unapproved campaigns of one advertiser. */
export const MAX_DRAFTS = 100;
/** New campaigns of one advertiser in a day, including archived ones: campaigns are never deleted. */
export const MAX_DRAFTS_A_DAY = 200;
const countDrafts = statement<{ pending: number; ofDay: number }>(
  "campaigns.count-drafts",
  `select (count(*) filter (where review <> 'approved' and status <> 'archived'))::integer as pending,
     (count(*) filter (where created_at > $2::timestamptz - interval '1 day'))::integer as "ofDay"
   from campaigns where advertiser_id = $1 and review is not null`,
);

async function draftsFault(
  tx: Transaction,
  { advertiserId, now }: { advertiserId: string; now: Date },
): Promise<Extract<AddCampaignOutcome, { outcome: `too-many-drafts${string}` }> | undefined> {
  await holdAdvertiser(tx, advertiserId);
  const [drafts] = await tx.run(countDrafts, [advertiserId, now]);
  if (drafts !== undefined && drafts.pending >= MAX_DRAFTS) return { outcome: "too-many-drafts" };
  return drafts !== undefined && drafts.ofDay >= MAX_DRAFTS_A_DAY ? { outcome: "too-many-drafts-today" } : undefined;
}

const findCharge = statement<{ day: string }>(
  "campaigns.find-charge",
  "select day::text from campaign_days where campaign_id = $1 and spent_micros + shown_micros > 0 limit 1",
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

const findTaskChannel = statement<never>("campaigns.find-task-channel", "select from task_channels where chat_id = $1");

/** A task bot must know the channel: otherwise nobody would see who joins. */
async function channelFault(
  tx: Transaction,
  { taskChatId }: Pick<CampaignSettings, "taskChatId">,
): Promise<CampaignFault | undefined> {
  if (taskChatId === null || (await tx.run(findTaskChannel, [taskChatId])).length > 0) return undefined;
  const message = "is no channel that a task bot knows; add it with: task-channels add";
  return { field: "taskChatId", message, fault: fieldFault("MISSING") };
}

function knownAdvertiserFault(name: string): CampaignFault {
  const message = `are the terms of a new advertiser, and ${name} is known with others; change them with: money terms`;
  return { field: "newAdvertiser", message, fault: fieldFault("ADVERTISER_KNOWN", { name }) };
}

function archivedFault(name: string): CampaignFault {
  const message = `${name} is archived; restore it first: advertisers restore`;
  return { field: "advertiser", message, fault: fieldFault("ADVERTISER_ARCHIVED", { name }) };
}

export function creativesFault(
  formats: CampaignFormat[],
  { creativeIds, mayLack = false }: { creativeIds: readonly string[]; mayLack?: boolean },
): CampaignFault | undefined {
  const [ofViews] = formats.filter(isViewFormat);
  if ((ofViews !== undefined) === creativeIds.length > 0 || (mayLack && creativeIds.length === 0)) return undefined;
  if (ofViews !== undefined) {
    return {
      field: "creativeIds",
      message: `a campaign of the format ${ofViews} needs a video`,
      fault: fieldFault("VIDEO_NEEDED"),
    };
  }
  const message = "a campaign without the format rewarded or interstitial has no video";
  return { field: "creativeIds", message, fault: fieldFault("LINK_NEEDS_NO_VIDEO") };
}

async function firstUnknown(
  tx: Transaction,
  creativeIds: string[],
  ofAdvertiser: string | null,
): Promise<string | undefined> {
  const known = new Set((await tx.run(findCreatives, [creativeIds, ofAdvertiser])).map(({ id }) => id));
  return creativeIds.find((creativeId) => !known.has(creativeId));
}

export type UpdateCampaignOutcome =
  | { outcome: "updated"; campaign: Campaign }
  | { outcome: "unknown-campaign" }
  | { outcome: "archived" }
  | { outcome: "changed-since" }
  | { outcome: ChangeRefusal }
  | { outcome: "invalid"; fault: CampaignFault };

type ChangeRefusal =
  | "paused-by-operator"
  /** The campaign needs an approval before it may run. */
  | "not-approved"
  /** An operator added the campaign, so it has no review. */
  | "of-operator"
  /** The advertiser has not submitted the campaign. */
  | "draft"
  | "approved-already";

/**
 * Changes the given settings, and the status where it is reverted. Past charges keep their price; a view in progress is charged
 * what it costs when it ends.
 * `expectedUpdatedAt`: nothing is changed if the campaign was changed after it.
 */
export async function updateCampaign(
  database: Database,
  { changes, ...input }: Change & { changes: Partial<CampaignSettings & Pick<Campaign, "status">> },
): Promise<UpdateCampaignOutcome> {
  return changeCampaign(database, input, (campaign): Changed => {
    const { status, ...settings } = changes;
    const after: Partial<StatusOf> | ChangeRefusal =
      status === undefined ? {} : statusAfter(campaign, { status, by: "operator" });
    return typeof after === "string" ? after : { ...campaign, ...settings, ...after };
  });
}

type Pauser = Exclude<Campaign["pausedBy"], "review" | null>;

/** `archived` is permanent. An advertiser resumes only what its own people have paused. */
export async function setCampaignStatus(
  database: Database,
  { status, by, ...of }: Omit<Change, "expectedUpdatedAt"> & { status: CampaignStatus; by: Pauser },
): Promise<UpdateCampaignOutcome> {
  return changeCampaign(database, of, (campaign): Changed => {
    const after = statusAfter(campaign, { status, by });
    return typeof after === "string" ? after : { ...campaign, ...after };
  });
}

type StatusOf = Pick<Campaign, "status" | "pausedBy">;

/** What the operator has paused stays the operator's, also when its advertiser pauses it once more. */
function statusAfter(
  { pausedBy, review }: Pick<Campaign, "pausedBy" | "review">,
  { status, by }: { status: CampaignStatus; by: Pauser },
): StatusOf | ChangeRefusal {
  // An advertiser archives only the campaigns that it drafted.
  if (status === "archived" && review === null && by === "advertiser") return "of-operator";
  if (status === "active" && review !== null && review !== "approved") return "not-approved";
  if (pausedBy === "operator" && by === "advertiser")
    return status === "paused" ? { status, pausedBy } : "paused-by-operator";
  return { status, pausedBy: status === "paused" ? by : null };
}

export interface Change {
  campaignId: string;
  author?: Author | undefined;
  now: Date;
  expectedUpdatedAt?: Date | undefined;
}

export type Changed = Campaign | ChangeRefusal | "unchanged" | { fault: CampaignFault };

/** Locks the campaign and changes its current state. Writes of `changed` are rolled back if the change is refused. */
export async function changeCampaign(
  database: Database,
  { campaignId, author, now, expectedUpdatedAt }: Change,
  changed: (campaign: Campaign, tx: Transaction) => Changed | Promise<Changed>,
): Promise<UpdateCampaignOutcome> {
  return storedOrNothing(database, async (tx): Promise<UpdateCampaignOutcome> => {
    const opened = await openChange(tx, author, campaignId);
    await tx.run(lock, [campaignId]);
    const before = await findCampaign(tx, campaignId);
    if (!before) return { outcome: "unknown-campaign" };
    if (before.status === "archived") return { outcome: "archived" };
    if (expectedUpdatedAt !== undefined && before.updatedAt.getTime() !== expectedUpdatedAt.getTime())
      return { outcome: "changed-since" };
    const changes = await changed(before, tx);
    if (changes === "unchanged") return { outcome: "updated", campaign: before };
    if (typeof changes === "string") return { outcome: changes };
    if ("fault" in changes) return { outcome: "invalid", fault: changes.fault };
    const fault = campaignFault(changes);
    if (fault !== undefined) return { outcome: "invalid", fault };
    const { advertiserId, name: advertiser, state } = await rememberAdvertiser(tx, changes.advertiser);
    if (advertiserId !== before.advertiserId) {
      const fault = state === "archived" ? archivedFault(advertiser) : await chargedFault(tx, campaignId);
      if (fault !== undefined) return { outcome: "invalid", fault };
    }
    const unfit = (await sampleFault(tx, advertiserId, changes)) ?? (await channelFault(tx, changes));
    if (unfit !== undefined) return { outcome: "invalid", fault: unfit };
    const columns = JSON.stringify(byColumn(storedColumns, changes));
    const [stored] = await tx.run(update, [campaignId, now, columns, advertiserId]);
    if (!stored) throw new Error("the campaign disappeared while it was changed");
    await audit(tx, opened);
    return { outcome: "updated", campaign: { ...changes, ...stored, advertiserId, advertiser } };
  });
}

type AttachmentChange = Omit<Change, "expectedUpdatedAt"> & { creativeId: string };

/** How a campaign shows a creative; omitted settings keep their value, or default to the campaign's. */
export type AttachCreativeOutcome =
  | { outcome: "changed"; campaign: Campaign }
  | { outcome: "unknown-campaign" }
  | { outcome: "unknown-creative" }
  | { outcome: "invalid"; fault: CampaignFault };

/** Attaches a creative to a campaign, attaches it again after it was detached, or changes its settings. */
export async function attachCreative(
  database: Database,
  { creativeId, settings: shown, ...of }: AttachmentChange & { settings: CreativeSettings },
): Promise<AttachCreativeOutcome> {
  const { campaignId } = of;
  const { label, callToAction, weight } = shown;
  return changed(database, of, async (tx, campaign) => {
    if (!campaign.formats.some(isViewFormat)) {
      const message = "a campaign of direct links has a landing URL and no video";
      const fault = { field: "creativeIds", message, fault: fieldFault("LINK_NEEDS_NO_VIDEO") } as const;
      return { outcome: "invalid", fault };
    }
    if ((await firstUnknown(tx, [creativeId], null)) !== undefined) return { outcome: "unknown-creative" };
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
  { creativeId, ...of }: AttachmentChange,
): Promise<AttachCreativeOutcome> {
  const { campaignId } = of;
  return changed(database, of, async (tx, campaign) => {
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
  { campaignId, author, now }: Omit<Change, "expectedUpdatedAt">,
  change: (
    tx: Transaction,
    campaign: Campaign,
  ) => Promise<Exclude<AttachCreativeOutcome, { outcome: "changed" }> | undefined>,
): Promise<AttachCreativeOutcome> {
  return database.transaction(async (tx) => {
    const opened = await openChange(tx, author, campaignId);
    await tx.run(lock, [campaignId]);
    const before = await findCampaign(tx, campaignId);
    if (!before) return { outcome: "unknown-campaign" };
    const refusal = await change(tx, before);
    if (refusal) return refusal;
    await tx.run(touch, [campaignId, now]);
    await audit(tx, opened);
    const campaign = await findCampaign(tx, campaignId);
    return campaign ? { outcome: "changed", campaign } : { outcome: "unknown-campaign" };
  });
}
