import { IMPRESSION_ID } from "../openrtb/bid-request.ts";
import { judgeResponse, NATIVE } from "../openrtb/judge-bid.ts";
import type { SentBid } from "../openrtb/read-bid-response.ts";
import { decimalText } from "../openrtb/read-price.ts";
import type { CallQuestion, PreparedCall } from "../prepared-call.ts";
import type { SentCard } from "../read-card.ts";
import { notKept, RICHADS_CURRENCY, type RichAdsBid, readRichAdsList, textOf } from "./richads-list.ts";

/** Its documentation requires a language of two letters. */
const USUAL_LANGUAGE = "en";

/**
 * RichAds, "Telegram Bot Message" (docs.richads.com, read in November 2026): a JSON body without a signature, in which the
 * publisher's number is the key; nothing about the viewer is required but a language. Undefined: the number is missing, or amounts
 * are not in its currency. Prices are those of 1,000 impressions, as of its video.
 */
export function prepareRichAdsCards({ opening, buyer, key, seller }: CallQuestion): PreparedCall | undefined {
  const { language, userId, requestId: id, botId } = opening;
  if (key === undefined || seller.currency !== RICHADS_CURRENCY) return undefined;
  const isTest = opening.isTest || buyer.alwaysTests;
  const shared = {
    language_code: language?.length === 2 ? language : USUAL_LANGUAGE,
    bid_floor: Number(decimalText(buyer.floorMicros)),
    production: !isTest,
  };
  const hidden = { publisher_id: key, ...(buyer.sends.includes("telegram-id") && { telegram_id: userId }) };
  const of = { requestId: id, impressionId: IMPRESSION_ID, currency: seller.currency, markupTypes: [NATIVE] };
  return {
    request: { id, botId, isTest, kept: () => JSON.stringify({ ...shared, ...notKept(hidden) }, null, 2) },
    headers: {},
    body: JSON.stringify({ ...shared, ...hidden }),
    judge: (answer, rules) => judgeResponse(readRichAdsList(answer, bidOf), { ...rules, ...of }),
  };
}

function bidOf(bid: RichAdsBid): SentBid {
  const notice = textOf(bid.notification_url);
  const file = textOf(bid.image_preload);
  // The address in `image` counts an impression each time it is read; with a notice of its own, that would be twice.
  const image = (notice === undefined ? undefined : file) ?? textOf(bid.image) ?? file;
  const card: SentCard = {
    title: textOf(bid.title),
    text: textOf(bid.message),
    imageUrl: image,
    file: file ?? image,
    button: textOf(bid.button),
    advertiser: textOf(bid.brand),
    link: textOf(bid.link),
  };
  return {
    bidId: textOf(bid.creative_id) ?? "",
    impressionId: IMPRESSION_ID,
    price: typeof bid.bid_price === "string" ? bid.bid_price : undefined,
    seat: undefined,
    markup: JSON.stringify(card),
    nurl: undefined,
    burl: notice,
    lurl: undefined,
    creativeId: textOf(bid.creative_id),
    domains: [],
    categories: [],
    taxonomy: 1,
    attributes: [],
    markupType: NATIVE,
  };
}
