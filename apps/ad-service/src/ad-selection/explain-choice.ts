import { type CampaignPriority, campaignPriorities } from "@intermission/operator-api/campaign-words";
import { adsBehindPlan } from "./campaign-state.ts";
import { type CampaignIndex, weightOf } from "./choose-ad.ts";
import { type AdRequest, type ExclusionReason, exclusionReason } from "./eligibility.ts";

export interface Verdict {
  campaignId: string;
  name: string;
  priority: CampaignPriority;
  /** Undefined if the campaign may be chosen. */
  exclusionReason: ExclusionReason | undefined;
  /** The probability that it is chosen now, 0 to 1. */
  likelihood: number;
  /** Ads behind its plan of the day, negative if it is ahead; undefined if it has no plan. */
  behindPlan: number | undefined;
}

/** For each running campaign, why it does not fit the request or how likely it is chosen; the most likely first. */
export function explainChoice(index: CampaignIndex, request: AdRequest, now: Date): Verdict[] {
  const moment = { now, curve: index.curve, localTimes: index.localTimes };
  const campaigns = index.states.map((state) => {
    const { campaignId, name, priority } = state.campaign;
    const behindPlan = adsBehindPlan(state, request.format, moment);
    const reason = exclusionReason(state, request, moment);
    return { campaignId, name, priority, exclusionReason: reason, behindPlan, weight: weightOf(state, behindPlan) };
  });
  const fitting = campaigns.filter((campaign) => campaign.exclusionReason === undefined);
  const firstGroup = campaignPriorities
    .flatMap((priority) => {
      const ofPriority = fitting.filter((campaign) => campaign.priority === priority);
      return [
        ofPriority.filter(({ behindPlan }) => behindPlan !== undefined),
        ofPriority.filter(({ behindPlan }) => behindPlan === undefined),
      ];
    })
    .find((group) => group.length > 0);
  const drawn = new Set(firstGroup);
  const total = [...drawn].reduce((sum, { weight }) => sum + weight, 0);
  return campaigns
    .map((campaign): Verdict => {
      const { weight, ...verdict } = campaign;
      return { ...verdict, likelihood: drawn.has(campaign) ? weight / total : 0 };
    })
    .toSorted((one, other) => other.likelihood - one.likelihood);
}
