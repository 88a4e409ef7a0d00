import { isDeepStrictEqual } from "node:util";
import { type advertiserSettings, reviewedSettings } from "@intermission/operator-api/campaign-reviews";
import type { Campaign, CampaignSettings } from "@intermission/operator-api/campaigns";
import { fieldFault } from "@intermission/operator-api/field-forms";
import { type Author, audit, openChange } from "@intermission/postgres/audit";
import { type Database, statement, type Transaction } from "@intermission/postgres/open-database";
import { definedFields } from "@intermission/server/parse-request";
import type { ConfirmableEffect } from "@intermission/server/refuse";
import type { z } from "zod";
import { readState } from "../audit/object-states.ts";
import type { CampaignFault } from "./campaign-settings.ts";
import {
  type Change,
  type Changed,
  changeCampaign,
  creativesFault,
  type UpdateCampaignOutcome,
} from "./change-campaign.ts";
import { type BudgetFacts, budgetFactsOf, moneyFault } from "./raise-budget.ts";

/** What an advertiser changes of its own campaign. */
export type Revision = Partial<z.output<typeof advertiserSettings>>;

/** Another landing page, call to action or target than what was approved. */
function isToReview(campaign: Campaign, revised: Pick<CampaignSettings, (typeof reviewedSettings)[number]>): boolean {
  return (
    campaign.review === "approved" && reviewedSettings.some((name) => !isDeepStrictEqual(campaign[name], revised[name]))
  );
}

/** The bots that the operator has set stay. */
function withRevision(campaign: Campaign, { targeting, ...changes }: Revision): Campaign {
  const { bots, excludedBots } = campaign.targeting;
  return {
    ...campaign,
    ...definedFields(changes),
    ...(targeting && { targeting: definedFields({ ...targeting, bots, excludedBots }) }),
  };
}

/** What an approved campaign's advertiser is told before: it is shown no more until it is approved again. */
export function reviewEffects(campaign: Campaign, changes: Revision): ConfirmableEffect[] {
  const revised = withRevision(campaign, changes);
  if (!isToReview(campaign, revised)) return [];
  const [field = "landingUrl"] = reviewedSettings.filter((name) => !isDeepStrictEqual(campaign[name], revised[name]));
  const message = "is reviewed again: the campaign is not shown until an operator has approved it";
  return [{ field, message, effect: fieldFault("REVIEWED_AGAIN") }];
}

/** A campaign as its advertiser revises it. What waits or runs stays within the advertiser's money; a draft may exceed it. */
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

/** What an operator has agreed to, its advertiser only raises. */
function priceFault(before: Campaign, after: Campaign): CampaignFault | undefined {
  if (before.approvedAt === null) return undefined;
  const field = (["viewPriceMicros", "clickPriceMicros"] as const).find((name) => after[name] < before[name]);
  const message = "can only be raised, since the operator has approved it; the operator lowers it";
  return field && { field, message, fault: fieldFault("ONLY_RAISED") };
}

/** Whoever has paused it keeps it paused. */
function stopped({ pausedBy }: Campaign): Pick<Campaign, "status" | "pausedBy"> {
  return { status: "paused", pausedBy: pausedBy ?? "review" };
}

/** A change of its advertiser's. */
export function reviseCampaign(
  database: Database,
  { changes, ...of }: Change & { changes: Revision },
): Promise<UpdateCampaignOutcome> {
  return changeCampaign(database, of, async (campaign, tx) =>
    revised(campaign, changes, { ...(await budgetFactsOf(tx, campaign.campaignId)), now: of.now }),
  );
}

/** As it is submitted: with a video where it needs one, and within the advertiser's money. */
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

// Lateral with "offset 0" looks up each of the campaign's; a plain join read all that are not approved, of all campaigns.
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

/** Puts a draft, or a refused campaign again, into the queue, with its videos that nobody has submitted yet. */
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
    const change = await openChange(tx, author && ofCreative(author), id);
    if ((await tx.run(submitCreative, [id, now])).length > 0) await audit(tx, change);
  }
}

function ofCreative(author: Author): Author {
  return { ...author, objectKind: "creative", readState: (tx, id) => readState(tx, { kind: "creative", id }) };
}

export type CampaignDecision =
  /** With what the operator sets for it. */
  | {
      decision: "approve";
      settings: Partial<Pick<CampaignSettings, "priority" | "category" | "viewPriceMicros" | "clickPriceMicros">>;
    }
  | { decision: "refuse"; reason: string };

/** A campaign as an operator has decided about it. */
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
/** Tells people, as a part of the transaction. */
export type Tell = (tx: Transaction, alerts: readonly DecisionAlert[], now: Date) => Promise<void>;

/** Decides about what was looked at, which `expectedUpdatedAt` names, and tells the advertiser's people. */
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
