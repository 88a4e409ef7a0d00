import { campaignPriorities } from "@intermission/operator-api/campaign-words";
import type { CampaignSnapshot } from "../ad-selection/campaign-snapshot.ts";
import { adsBehindPlan, type CampaignState } from "../ad-selection/campaign-state.ts";
import { type AdRequest, exclusionReason } from "../ad-selection/eligibility.ts";
import { audienceOf } from "../viewers/audience.ts";
import { campaignOf, cpmMicrosOf, type Offer } from "./order-offers.ts";
import { estimate, expectedMicros, orderSources, type UncertainSource } from "./order-sources.ts";
import { keyOf, type Sources } from "./source-records.ts";

/**
 * The campaigns of VAST tags that may be shown to this viewer and are not drawn by weight, because the operator has them ordered by
 * what they earn, or by a list: those without a plan of the day. A sponsorship is no matter of what it earns.
 */
export function tagsToOrder(
  { tags, orders }: Sources,
  { byId, index }: CampaignSnapshot,
  request: AdRequest,
  now: Date,
): CampaignState[] {
  const order = orders.get(request.bot.botId);
  if (tags.size === 0 || request.format !== "rewarded" || order === undefined) return [];
  const moment = { now, curve: index.curve, localTimes: index.localTimes };
  return [...(order.mode === "fixed" ? order.campaignIds : tags)].flatMap((campaignId) => {
    const state = tags.has(campaignId) ? byId.get(campaignId) : undefined;
    if (state === undefined || state.campaign.priority === "sponsorship") return [];
    // Without a price it earns nothing that could be compared.
    if (order.mode === "earned" && state.campaign.viewPriceMicros === 0) return [];
    if (adsBehindPlan(state, "rewarded", moment) !== undefined) return [];
    return exclusionReason(state, request, moment) === undefined ? [state] : [];
  });
}

/** The tags that may go before the own ad that would be shown: none if it is behind its plan of the day, and none of a lower priority. */
export function mayGoBefore(
  states: readonly CampaignState[],
  own: CampaignState | undefined,
  moment: Parameters<typeof adsBehindPlan>[2],
): readonly CampaignState[] {
  if (own === undefined) return states;
  if ((adsBehindPlan(own, "rewarded", moment) ?? 0) > 0) return [];
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

/**
 * The expected earning of an offer for 1,000 views. If the bot's sources are ordered by earnings, the rate of completed views
 * counts for videos, bids and tags; otherwise the worth of an offer is its price.
 */
export function worthOf(sources: Sources | undefined, { bot: { botId }, user }: AdRequest, offer: Offer): number {
  const cpmMicros = cpmMicrosOf(offer);
  if (sources?.orders.get(botId)?.mode !== "earned") return cpmMicros;
  return expectedMicros(cpmMicros, sources.records.get(keyOf(botId, audienceOf(user).country, campaignOf(offer))));
}

/** The campaigns to request for one opening, in their order: `certainMicros` is what is shown if none of them has an ad. */
export function orderTags(
  sources: Sources,
  states: readonly CampaignState[],
  { bot: { botId }, user }: AdRequest,
  { random, ...of }: { certainMicros: number; atMost: number; random: () => number },
): string[] {
  if (sources.orders.get(botId)?.mode === "fixed")
    return states.slice(0, of.atMost).map(({ campaign }) => campaign.campaignId);
  const { country } = audienceOf(user);
  const estimates = states.map((state) => estimate(sourceOf(sources, state, { botId, country })));
  return orderSources(estimates, of, random).order.map(({ campaignId }) => campaignId);
}
