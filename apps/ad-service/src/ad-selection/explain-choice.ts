import type { CampaignPriority } from "../campaigns/schema.ts";
import type { AdRequest } from "./ad-request.ts";
import type { CampaignIndex } from "./campaign-index.ts";
import { type ExclusionReason, exclusionReason } from "./exclusion-reason.ts";
import { adsBehindPlan } from "./pacing.ts";

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
  const moment = { now, curve: index.curve };
  const verdicts = index.states.map((state) => {
    const { campaignId, name, priority } = state.campaign;
    const behindPlan = adsBehindPlan(state, request.format, moment);
    const found = exclusionReason(state, request, moment);
    const isBehind = behindPlan !== undefined;
    const weight = state.campaign.weight * (isBehind ? Math.max(behindPlan, 0.5) : 1);
    return { campaignId, name, priority, exclusionReason: found, behindPlan, isBehind, weight, likelihood: 0 };
  });
  const first = (["sponsorship", "standard", "house"] as const)
    .flatMap((priority) => [true, false].map((isBehind) => ({ priority, isBehind })))
    .map(({ priority, isBehind }) =>
      verdicts.filter(
        (one) => one.exclusionReason === undefined && one.priority === priority && one.isBehind === isBehind,
      ),
    )
    .find((group) => group.length > 0);
  const all = (first ?? []).reduce((sum, { weight }) => sum + weight, 0);
  for (const one of first ?? []) one.likelihood = one.weight / all;
  return verdicts
    .toSorted((one, other) => other.likelihood - one.likelihood)
    .map(({ isBehind: _isBehind, weight: _weight, ...verdict }) => verdict);
}
