import { campaignPriorities } from "@intermission/operator-api/campaign-words";
import type { CampaignSnapshot } from "../ad-selection/campaign-snapshot.ts";
import { adsBehindPlan, type CampaignState } from "../ad-selection/campaign-state.ts";
import { type AdRequest, exclusionReason } from "../ad-selection/eligibility.ts";
import { audienceOf } from "../viewers/audience.ts";
import { estimate, orderSources, type UncertainSource } from "./order-sources.ts";
import { keyOf, type Sources } from "./source-records.ts";

/**
 * The campaigns of VAST tags that may be shown to this viewer and are not drawn by weight: those without a plan of the day, which
 * are ordered by what they earn, or that the operator's list names. A sponsorship is no matter of what it earns.
 */
export function tagsToOrder(
  { tags, byHand }: Sources,
  { byId, index }: CampaignSnapshot,
  request: AdRequest,
  now: Date,
): CampaignState[] {
  const hand = byHand.get(request.bot.botId);
  if (tags.size === 0 || request.format !== "rewarded" || hand?.mode === "weights") return [];
  const moment = { now, curve: index.curve, localTimes: index.localTimes };
  return [...(hand?.campaignIds ?? tags)].flatMap((campaignId) => {
    const state = tags.has(campaignId) ? byId.get(campaignId) : undefined;
    if (state === undefined || state.campaign.priority === "sponsorship") return [];
    if (adsBehindPlan(state, "rewarded", moment) !== undefined) return [];
    return exclusionReason(state, request, moment) === undefined ? [state] : [];
  });
}

/** Without tags of a lower priority than the own ad that would be shown. */
export function notBelow(states: readonly CampaignState[], own: CampaignState | undefined): readonly CampaignState[] {
  if (own === undefined) return states;
  const rank = ({ campaign }: CampaignState) => campaignPriorities.indexOf(campaign.priority);
  return states.filter((state) => rank(state) <= rank(own));
}

function sourceOf(
  { records }: Pick<Sources, "records">,
  { campaign }: CampaignState,
  { botId, country }: { botId: string; country: string },
): UncertainSource {
  const { campaignId, viewPriceMicros: priceMicros } = campaign;
  return { campaignId, priceMicros, record: records.get(keyOf(botId, country, campaignId)) };
}

/** The campaigns to request for one opening, in their order: `certainMicros` is what is shown if none of them has an ad. */
export function orderTags(
  sources: Sources,
  states: readonly CampaignState[],
  { bot: { botId }, user }: AdRequest,
  { random, ...of }: { certainMicros: number; atMost: number; random: () => number },
): string[] {
  if (sources.byHand.get(botId)?.mode === "fixed")
    return states.slice(0, of.atMost).map(({ campaign }) => campaign.campaignId);
  const { country } = audienceOf(user);
  const estimates = states.map((state) => estimate(sourceOf(sources, state, { botId, country })));
  return orderSources(estimates, of, random).order.map(({ campaignId }) => campaignId);
}
