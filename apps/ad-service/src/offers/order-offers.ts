import type { CampaignState } from "../ad-selection/campaign-state.ts";
import type { FitBid } from "../demand/openrtb/judge-bid.ts";
import type { BuyerAnswer } from "../demand/request-bids.ts";

/** Something that may be shown for an opening, from one of its sources. */
export type Offer =
  /** What the choice among own campaigns came to: a video, or a VAST tag that has not been requested yet. */
  | { source: "own"; state: CampaignState; behindPlan: number | undefined }
  | { source: "buyer"; answer: BuyerAnswer; fit: FitBid };

/** What an offer is worth for 1,000 views, in micros. The publisher's share of each is the same. */
export function cpmMicrosOf(offer: Offer): number {
  return offer.source === "own" ? offer.state.campaign.viewPriceMicros * 1000 : offer.fit.cpmMicros;
}

/** The campaign whose targeting and caps apply to the offer. */
export function campaignOf(offer: Offer): string {
  return offer.source === "own" ? offer.state.campaign.campaignId : offer.answer.buyer.campaignId;
}

/**
 * Orders the offers of an opening: sponsorships first, then what is worth more; of two that are worth the same, the campaign that
 * is behind its plan, and then own campaigns before buyers. First price: an offer costs what it offers.
 */
export function orderOffers(offers: readonly Offer[], worthOf: (offer: Offer) => number = cpmMicrosOf): Offer[] {
  return offers.toSorted(
    (a, b) =>
      Number(isSponsorship(b)) - Number(isSponsorship(a)) ||
      worthOf(b) - worthOf(a) ||
      Number(b.source === "own") - Number(a.source === "own") ||
      behind(b) - behind(a),
  );
}

export function isSponsorship(offer: Offer): boolean {
  return offer.source === "own" && offer.state.campaign.priority === "sponsorship";
}

function behind(offer: Offer): number {
  return offer.source === "own" ? (offer.behindPlan ?? 0) : 0;
}
