import { type BidOutcome, bidOutcomeNumbers } from "@intermission/operator-api/bid-outcomes";
import { vastReasonsInEnglish, vastReasonText } from "@intermission/operator-api/vast-reasons-in-english";
import { storableText } from "@intermission/postgres/storable-text";
import type { UnwrapOutcome } from "../vast/unwrap-tag.ts";
import { callableUrls, type VastAd } from "../vast/vast-ad.ts";
import { type AuctionMacros, fillAuctionMacros } from "./openrtb/auction-macros.ts";
import { durationSeconds, IMPRESSION_ID } from "./openrtb/bid-request.ts";
import type { FitBid } from "./openrtb/judge-bid.ts";
import type { SentBid } from "./openrtb/read-bid-response.ts";
import { decimalText, priceOfOne } from "./openrtb/read-price.ts";
import type { BuyerAnswer } from "./request-bids.ts";

export type TakenBid = { outcome: "ad"; ad: VastAd } | { outcome: "broken-markup" | "other-duration"; detail: string };

/** When a win is worth nothing any more: `imp.exp` of the request. */
const EXPIRES_MS = 900_000;
/** Declared durations are rounded. */
const SLACK_MS = 1000;

/** Reads VAST, which is there or at an address. */
type ReadMarkup = (source: { markup: string } | { url: string }) => Promise<UnwrapOutcome>;

/**
 * Reads the ad of a bid that is worth the most. Its markup is `adm`, else what `nurl` answers, which is then the notice of the win
 * as well. What is owed is in the ad, with the addresses that are called when the view begins and when the first picture shows.
 */
export async function takeBid(
  readMarkup: ReadMarkup,
  { answer, fit, currency, now }: { answer: BuyerAnswer; fit: FitBid; currency: string; now: Date },
): Promise<TakenBid> {
  const { bid, cpmMicros } = fit;
  const macros = macrosOf(answer, { bid, cpmMicros, currency, loss: 0 });
  const filled = (template: string | undefined) =>
    template === undefined ? undefined : fillAuctionMacros(template, macros);
  const nurl = filled(bid.nurl);
  const markup = filled(bid.markup);
  const unwrapped = await readMarkup(markup !== undefined ? { markup } : { url: nurl ?? "" });
  if (unwrapped.outcome === "no-ad") {
    const detail = `VAST ${unwrapped.code}: ${vastReasonText(vastReasonsInEnglish, unwrapped.reason)}`;
    return { outcome: "broken-markup", detail: storableText(detail, 300) };
  }
  const { ad } = unwrapped;
  const [minMs, maxMs] = [durationSeconds.min * 1000 - SLACK_MS, durationSeconds.max * 1000 + SLACK_MS];
  if (ad.durationMs < minMs || ad.durationMs > maxMs)
    return { outcome: "other-duration", detail: `${ad.durationMs / 1000} s` };
  const win = markup === undefined ? [] : callableUrls(nurl === undefined ? [] : [nurl]);
  const burl = filled(bid.burl);
  const billing = callableUrls(burl === undefined ? [] : [burl]);
  const expiresAt = new Date(Math.min(Date.parse(ad.expiresAt ?? "") || Infinity, now.getTime() + EXPIRES_MS));
  const trackers = { ...ad.trackers, ...(win.length > 0 && { win }), ...(billing.length > 0 && { billing }) };
  const bought = {
    buyerId: answer.buyer.buyerId,
    bidId: storableText(bid.bidId, 128),
    priceMicros: priceOfOne(cpmMicros),
  };
  return { outcome: "ad", ad: { ...ad, trackers, bought, expiresAt: expiresAt.toISOString() } };
}

/** What is called once a bid is owed; undefined: it names no address, or one that cannot be called. */
export function noticeAddress(
  { answer, fit: { bid, cpmMicros } }: { answer: BuyerAnswer; fit: FitBid },
  currency: string,
): string | undefined {
  if (bid.burl === undefined) return undefined;
  return callableUrls([fillAuctionMacros(bid.burl, macrosOf(answer, { bid, cpmMicros, currency, loss: 0 }))])[0];
}

/** The addresses of a buyer that are told why its bids did not win, each with its reason; none of a test. */
export function lossAddresses(answer: BuyerAnswer, currency: string): string[] {
  if (answer.request?.isTest) return [];
  return answer.bids.flatMap(({ bid, outcome }) => {
    const { loss } = bidOutcomeNumbers[outcome satisfies BidOutcome];
    if (bid.lurl === undefined || loss === null) return [];
    return callableUrls([fillAuctionMacros(bid.lurl, macrosOf(answer, { bid, currency, loss }))]);
  });
}

function macrosOf(
  answer: BuyerAnswer,
  { bid, cpmMicros, currency, loss }: { bid: SentBid; cpmMicros?: number; currency: string; loss: number },
): AuctionMacros {
  return {
    auctionId: answer.request?.id ?? "",
    bidId: answer.responseBidId ?? bid.bidId,
    impressionId: IMPRESSION_ID,
    seat: bid.seat,
    creativeId: bid.creativeId,
    // A loser does not learn what another one paid.
    price: cpmMicros === undefined ? undefined : decimalText(cpmMicros),
    currency,
    loss,
  };
}
