import { IMPRESSION_ID } from "../openrtb/bid-request.ts";
import { BANNER, judgeResponse, VIDEO } from "../openrtb/judge-bid.ts";
import type { SentBid } from "../openrtb/read-bid-response.ts";
import { decimalText } from "../openrtb/read-price.ts";
import type { CallQuestion, PreparedCall } from "../prepared-call.ts";
import { notKept, RICHADS_CURRENCY, type RichAdsBid, readRichAdsList, textOf } from "./richads-list.ts";

/**
 * RichAds, "Telegram Interstitial Video" (docs.richads.com, read in November 2026): a JSON body without a signature, in which the
 * publisher's number is the key. It requires the viewer's address. Undefined: the number, the address, or the permission to send it is
 * missing, or amounts are not in its currency.
 *
 * Prices are read as those of 1,000 impressions: the account must be configured so, since it may be by the click. The notice is
 * called at the first picture, so that only ads that were shown are counted.
 */
export function prepareRichAds({ opening, buyer, key, seller }: CallQuestion): PreparedCall | undefined {
  const { address, userAgent, language, isPremium, userId, requestId: id, botId } = opening;
  if (key === undefined || address === undefined || !buyer.sends.includes("address")) return undefined;
  // Settings refuse it too, but the deployment's currency may change after them.
  if (seller.currency !== RICHADS_CURRENCY) return undefined;
  const isTest = opening.isTest || buyer.alwaysTests;
  const shared = {
    user_agent: userAgent,
    motivated: opening.format === "rewarded",
    premium: isPremium,
    number_of_bids: 1,
    production: !isTest,
    // The shortest text of this number is the decimal one.
    bid_floor: Number(decimalText(buyer.floorMicros)),
    ...(language?.length === 2 && { language_code: language }),
  };
  const ofViewer = { ip: address, ...(buyer.sends.includes("telegram-id") && { telegram_id: userId }) };
  const kept = () => JSON.stringify({ ...shared, ...notKept({ publisher_id: key, ...ofViewer }) }, null, 2);
  return {
    request: { id, botId, isTest, kept },
    headers: {},
    body: JSON.stringify({ ...shared, ...ofViewer, publisher_id: key }),
    judge: (answer, rules) =>
      judgeResponse(readRichAdsList(answer, bidOf), {
        ...rules,
        requestId: id,
        impressionId: IMPRESSION_ID,
        currency: seller.currency,
        markupTypes: [VIDEO],
      }),
  };
}

/** Those with `creative_type: "vast"` have a VAST document in `html`. */
function bidOf(bid: RichAdsBid): SentBid {
  const isVast = textOf(bid.creative_type)?.toLowerCase() === "vast";
  return {
    bidId: textOf(bid.creative_id) ?? "",
    impressionId: IMPRESSION_ID,
    price: typeof bid.bid_price === "string" ? bid.bid_price : undefined,
    seat: undefined,
    markup: isVast ? textOf(bid.html) : undefined,
    nurl: undefined,
    burl: textOf(bid.notification_url),
    lurl: undefined,
    creativeId: textOf(bid.creative_id),
    domains: [],
    categories: [],
    taxonomy: 1,
    attributes: [],
    markupType: isVast ? VIDEO : BANNER,
  };
}
