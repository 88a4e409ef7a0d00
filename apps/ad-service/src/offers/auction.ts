import type { CampaignSnapshot } from "../ad-selection/campaign-snapshot.ts";
import { type AdRequest, exclusionReason } from "../ad-selection/eligibility.ts";
import type { RequestedBuyer } from "../buyers/buyers.ts";
import { type BoughtFormat, buysFormat } from "../demand/bought-formats.ts";
import { type Demand, recordAuction, requestBids } from "../demand/demand.ts";
import type { OpeningOffer } from "../demand/opening-offers.ts";
import type { BidOpening } from "../demand/openrtb/bid-request.ts";
import { isFit } from "../demand/openrtb/judge-bid.ts";
import type { BuyerAnswer } from "../demand/request-bids.ts";
import { lossAddresses } from "../demand/take-bid.ts";
import { enqueueLossCalls } from "../vast/trackers.ts";
import { cpmMicrosOf, type Offer } from "./order-offers.ts";

export type BuyerOffer = Extract<Offer, { source: "buyer" }>;

/** What the buyers said to one opening. */
export interface Auction {
  opening: BidOpening;
  answers: readonly BuyerAnswer[];
  /** Those that may be shown and were not tried yet. */
  left: readonly BuyerOffer[];
  /** The offer that is to be shown, while its view has not begun. */
  taken: "own" | BuyerOffer | undefined;
  /** What the own campaigns came to, beside the buyers; undefined: only buyers have this format. */
  own: Pick<OpeningOffer, "outcome" | "cpmMicros"> | undefined;
}

/** The buyers of the format whose campaigns may be shown to this viewer. */
export function buyersFor(
  { buyers, byId, index }: CampaignSnapshot,
  request: AdRequest,
  { format, now }: { format: BoughtFormat; now: Date },
): RequestedBuyer[] {
  const moment = { now, curve: index.curve, localTimes: index.localTimes };
  return buyers.filter((buyer) => {
    const state = byId.get(buyer.campaignId);
    if (!buysFormat(buyer, format)) return false;
    if (state === undefined || exclusionReason(state, request, moment) !== undefined) return false;
    // Whether a bid fits is decided when its price is known. Without funds left, no bid fits.
    return state.funds === null || state.funds.spentMicros < state.funds.limitMicros;
  });
}

export async function openAuction(
  demand: Demand,
  buyers: readonly RequestedBuyer[],
  { opening, leftMs }: { opening: BidOpening; leftMs: number },
): Promise<Auction> {
  const answers = await requestBids(demand, buyers, { opening, leftMs });
  const left = answers
    // What answers a test is not paid, so only testers see it.
    .filter(({ request }) => opening.isTest || request?.isTest !== true)
    .flatMap((answer) => answer.bids.filter(isFit).map((fit): BuyerOffer => ({ source: "buyer", answer, fit })));
  const own = opening.format === "card" ? undefined : ({ outcome: "none-fits", cpmMicros: null } as const);
  return { opening, answers, left, taken: undefined, own };
}

/** Why a bid's ad cannot be shown after it was read. */
type RefusedAd = "broken-markup" | "other-duration" | "unreviewed" | "disapproved";

/** Names the outcome of a bid whose ad was read, and of its buyer's answer. It has not won before its view has begun. */
export function decideBid(
  auction: Auction,
  offer: BuyerOffer,
  decided: { outcome: "ad" } | { outcome: RefusedAd; detail: string },
): void {
  const { answer, fit } = offer;
  const isRead = decided.outcome === "ad";
  fit.outcome = isRead ? "not-offered" : decided.outcome;
  if (!isRead) answer.detail = decided.detail;
  if (isRead || !answer.bids.some(isFit)) answer.outcome = fit.outcome;
  if (isRead) auction.taken = offer;
  auction.left = auction.left.filter((one) => one.fit !== fit);
}

/** The view of what was taken has begun: the ad is offered. */
export function nameWinner({ taken, own }: Auction): void {
  if (taken === "own" && own) own.outcome = "won";
  if (taken && taken !== "own") taken.fit.outcome = taken.answer.outcome = "won";
}

/** The campaign of what was taken is at a limit, which its other bids would reach as well. */
export function dropTaken(auction: Auction): void {
  const { taken } = auction;
  auction.taken = undefined;
  if (taken !== undefined && taken !== "own")
    auction.left = auction.left.filter(({ answer }) => answer.buyer.buyerId !== taken.answer.buyer.buyerId);
}

/** Refuses the taken bid: meanwhile its creative has reached the limit of offers, or a review refused it. */
export function refuseTaken(auction: Auction, outcome: RefusedAd): void {
  const { taken } = auction;
  auction.taken = undefined;
  if (taken === undefined || taken === "own") return;
  taken.fit.outcome = outcome;
  if (!taken.answer.bids.some(isFit)) taken.answer.outcome = outcome;
}

/** Of one opening. */
const MAX_LOSSES = 32;

/** Stores what became of each source of an opening, and tells the losers. Never rejects: the opening is stored already. */
export async function concludeAuction(demand: Demand, { opening, answers, own }: Auction, now: Date): Promise<void> {
  const { botId, requestId, isTest, userAgent } = opening;
  const of = { botId, requestId, at: now };
  const offers = [
    ...(own ? [{ ...of, source: "own", tookMs: 0, consent: null, ...own }] : []),
    ...answers.map((answer): OpeningOffer => {
      const { buyer, outcome, tookMs, bids, consent } = answer;
      const prices = bids.flatMap(({ cpmMicros }) => cpmMicros ?? []);
      const cpmMicros = prices.length > 0 ? Math.max(...prices) : null;
      return { ...of, source: buyer.buyerId, outcome, cpmMicros, tookMs, consent };
    }),
  ];
  const { currency } = demand.seller;
  try {
    const losses = isTest ? [] : answers.flatMap((answer) => lossAddresses(answer, currency)).slice(0, MAX_LOSSES);
    await enqueueLossCalls(demand.database, { botId, userAgent, now }, losses);
    await recordAuction(demand, { offers, answers, isTest, now });
  } catch (err) {
    demand.log.error({ err, botId }, "what became of an auction could not be stored");
  }
}

/** Says what the own campaigns came to, beside the bids: `isBest`, if no bid is worth more. */
export function compareOwn(auction: Auction, own: Offer, isBest: boolean): void {
  auction.own = { outcome: isBest ? "not-offered" : "lost", cpmMicros: cpmMicrosOf(own) };
  if (isBest) auction.taken = "own";
}
