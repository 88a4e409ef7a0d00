import { isDeepStrictEqual } from "node:util";
import { type advertiserSettings, reviewedSettings } from "@intermission/operator-api/campaign-reviews";
import type { Campaign, CampaignSettings } from "@intermission/operator-api/campaigns";
import { fieldFault } from "@intermission/operator-api/field-forms";
import { audit, authorOn, openChange } from "@intermission/postgres/audit";
import { type Database, statement, type Transaction } from "@intermission/postgres/open-database";
import { definedFields } from "@intermission/server/parse-request";
import type { ConfirmableEffect } from "@intermission/server/refuse";
import type { z } from "zod";
import type { CampaignFault } from "./campaign-settings.ts";
import {
  type Change,
  type Changed,
  changeCampaign,
  creativesFault,
  type UpdateCampaignOutcome,
} from "./change-campaign.ts";
import { type BudgetFacts, budgetFactsOf, moneyFault } from "./raise-budget.ts";

/** An advertiser's changes of its own campaign. */
export type Revision = Partial<z.output<typeof advertiserSettings>>;

/** Whether the landing page, call to action or target differs from the approved one. */
function isToReview(campaign: Campaign, revised: Pick<CampaignSettings, (typeof reviewedSettings)[number]>): boolean {
  return (
    campaign.review === "approved" && reviewedSettings.some((name) => !isDeepStrictEqual(campaign[name], revised[name]))
  );
}

/** Applies a revision, and keeps the bots that the operator has set. */
function withRevision(campaign: Campaign, { targeting, ...changes }: Revision): Campaign {
  const { bots, excludedBots } = campaign.targeting;
  return {
    ...campaign,
    ...definedFields(changes),
    ...(targeting && { targeting: definedFields({ ...targeting, bots, excludedBots }) }),
  };
}

/** The effect to confirm: the change stops an approved campaign until it is approved again. */
export function reviewEffects(campaign: Campaign, changes: Revision): ConfirmableEffect[] {
  const revised = withRevision(campaign, changes);
  if (!isToReview(campaign, revised)) return [];
  const [field = "landingUrl"] = reviewedSettings.filter((name) => !isDeepStrictEqual(campaign[name], revised[name]));
  const message = "is reviewed again: the campaign is not shown until an operator has approved it";
  return [{ field, message, effect: fieldFault("REVIEWED_AGAIN") }];
}

/** Applies an advertiser's revision. A waiting or running campaign must fit the advertiser's money; a draft may exceed it. */
export function revised(
  campaign: Campaign,
  changes: Revision,
  { now, ...facts }: BudgetFacts & { now: Date },
): Changed {
  if (campaign.review === null) return "of-operator";
  const after = withRevision(campaign, changes);
  const fault = priceFault(campaign, after);
  if (fault !== undefined) return { fault };
  const isBinding = campaign.review === "waiting" || campaign.review === "approved";
  const tooMuch = isBinding ? moneyFault(changes, facts) : undefined;
  if (tooMuch !== undefined) return { fault: tooMuch };
  return isToReview(campaign, after) ? { ...after, ...stopped(campaign), review: "waiting", submittedAt: now } : after;
}

/** After an approval, the advertiser may only raise the price. */
function priceFault(before: Campaign, after: Campaign): CampaignFault | undefined {
  if (before.approvedAt === null) return undefined;
  const field = (["viewPriceMicros", "clickPriceMicros"] as const).find((name) => after[name] < before[name]);
  const message = "can only be raised, since the operator has approved it; the operator lowers it";
  return field && { field, message, fault: fieldFault("ONLY_RAISED") };
}

/** Pauses the campaign for its review. An earlier pause by the operator or the advertiser stays theirs. */
function stopped({ pausedBy }: Campaign): Pick<Campaign, "status" | "pausedBy"> {
  return { status: "paused", pausedBy: pausedBy ?? "review" };
}

/** Stores a revision by the campaign's advertiser. */
export function reviseCampaign(
  database: Database,
  { changes, ...of }: Change & { changes: Revision },
): Promise<UpdateCampaignOutcome> {
  return changeCampaign(database, of, async (campaign, tx) =>
    revised(campaign, changes, { ...(await budgetFactsOf(tx, campaign.campaignId)), now: of.now }),
  );
}

/** Submits a campaign. It must have a video if its format needs one, and fit the advertiser's money. */
export function submitted(campaign: Campaign, { now, ...facts }: BudgetFacts & { now: Date }): Changed {
  const { review, formats, creatives } = campaign;
  if (review === null) return "of-operator";
  if (review === "approved") return "approved-already";
  if (review === "waiting") return "unchanged";
  const creativeIds = creatives.filter(({ isActive }) => isActive).map(({ creativeId }) => creativeId);
  const fault = creativesFault(formats, { creativeIds }) ?? moneyFault(campaign, facts);
  if (fault !== undefined) return { fault };
  return { ...campaign, review: "waiting", reviewReason: null, submittedAt: now };
}

// Lateral with "offset 0" looks up each video of the campaign; a plain join read the unapproved videos of all campaigns.
const readDrafts = statement<{ id: string }>(
  "campaigns.draft-creatives",
  `select creative_id as id from campaign_creatives cross join lateral (
     select review from creatives where creatives.creative_id = campaign_creatives.creative_id offset 0
   ) as creative where campaign_id = $1 and is_active and review = 'draft' order by creative_id`,
);
const submitCreative = statement<{ id: string }>(
  "campaigns.submit-creative",
  `update creatives set review = 'waiting', submitted_at = $2 where creative_id = $1 and review = 'draft'
   returning creative_id as id`,
);

/** Submits a draft or a refused campaign for review, together with its videos that are not submitted yet. */
export function submitCampaign(
  database: Database,
  of: Omit<Change, "expectedUpdatedAt">,
): Promise<UpdateCampaignOutcome> {
  return changeCampaign(database, of, async (campaign, tx) => {
    const after = submitted(campaign, { ...(await budgetFactsOf(tx, campaign.campaignId)), now: of.now });
    if (typeof after === "object" && !("fault" in after)) await submitVideos(tx, of);
    return after;
  });
}

async function submitVideos(
  tx: Transaction,
  { campaignId, author, now }: Omit<Change, "expectedUpdatedAt">,
): Promise<void> {
  for (const { id } of await tx.run(readDrafts, [campaignId])) {
    const change = await openChange(tx, author && authorOn(author, "creative"), id);
    if ((await tx.run(submitCreative, [id, now])).length > 0) await audit(tx, change);
  }
}

export type CampaignDecision =
  /** With the settings that the operator chooses. */
  | {
      decision: "approve";
      settings: Partial<Pick<CampaignSettings, "priority" | "category" | "viewPriceMicros" | "clickPriceMicros">>;
    }
  | { decision: "refuse"; reason: string };

/** Applies an operator's decision to a campaign. */
export function decided(campaign: Campaign, decision: CampaignDecision, now: Date): Changed {
  const { review, pausedBy } = campaign;
  if (review === null) return "of-operator";
  if (review === "draft") return "draft";
  if (decision.decision === "refuse")
    return { ...campaign, ...stopped(campaign), review: "refused", reviewReason: decision.reason };
  if (review === "approved") return "approved-already";
  const status = pausedBy === "review" ? ({ status: "active", pausedBy: null } as const) : {};
  return {
    ...campaign,
    ...definedFields(decision.settings),
    ...status,
    review: "approved",
    reviewReason: null,
    approvedAt: now,
  };
}

interface DecisionAlert {
  objectId: string;
  advertiserId: string;
  botId: null;
  cause: "campaign-approved" | "campaign-refused";
  facts: Record<string, string>;
}
/** Notifies people in the transaction. */
export type Tell = (tx: Transaction, alerts: readonly DecisionAlert[], now: Date) => Promise<void>;

/** Stores a decision about the version that `expectedUpdatedAt` names, and notifies the advertiser's people. */
export function decideCampaign(
  { database, tell }: { database: Database; tell: Tell },
  { decision, ...change }: Change & { expectedUpdatedAt: Date; decision: CampaignDecision },
): Promise<UpdateCampaignOutcome> {
  const { now } = change;
  return changeCampaign(database, change, async (campaign, tx) => {
    const after = decided(campaign, decision, now);
    if (typeof after === "string" || "fault" in after) return after;
    const { name, advertiserId, campaignId: objectId, reviewReason } = after;
    const of = { objectId, advertiserId, botId: null };
    const alert: DecisionAlert =
      reviewReason === null
        ? { ...of, cause: "campaign-approved", facts: { name } }
        : { ...of, cause: "campaign-refused", facts: { name, reason: reviewReason } };
    await tell(tx, [alert], now);
    return after;
  });
}
