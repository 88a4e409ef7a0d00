import { storableText } from "@intermission/postgres/storable-text";
import { parseWithTexts } from "@intermission/server/exact-json";
import { IMPRESSION_ID } from "../openrtb/bid-request.ts";
import { judgeResponse } from "../openrtb/judge-bid.ts";
import type { BidResponse, SentBid } from "../openrtb/read-bid-response.ts";
import { decimalText } from "../openrtb/read-price.ts";
import type { CallQuestion, PreparedCall } from "../prepared-call.ts";

/** Its account is in dollars, and its prices name no currency. */
const CURRENCY = "USD";
const MAX_BIDS = 5;

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
  if (seller.currency !== CURRENCY) return undefined;
  const isTest = opening.isTest || buyer.alwaysTests;
  const shared = {
    user_agent: userAgent,
    motivated: true,
    premium: isPremium,
    number_of_bids: 1,
    production: !isTest,
    // The shortest text of this number is the decimal one.
    bid_floor: Number(decimalText(buyer.floorMicros)),
    ...(language?.length === 2 && { language_code: language }),
  };
  const ofViewer = { ip: address, ...(buyer.sends.includes("telegram-id") && { telegram_id: userId }) };
  const kept = () => JSON.stringify({ ...shared, publisher_id: KEPT, ...mapped(ofViewer) }, null, 2);
  return {
    request: { id, botId, isTest, kept },
    headers: {},
    body: JSON.stringify({ ...shared, ...ofViewer, publisher_id: key }),
    judge: (answer, rules) =>
      judgeResponse(readRichAds(answer), {
        ...rules,
        requestId: id,
        impressionId: IMPRESSION_ID,
        currency: seller.currency,
      }),
  };
}

const KEPT = "sent, not kept";
const mapped = (facts: object) => Object.fromEntries(Object.keys(facts).map((name) => [name, KEPT]));

/** A list of bids, of which those with `creative_type: "vast"` have a VAST document in `html`; an empty one is no bid. */
function readRichAds(body: string): BidResponse {
  if (body.trim() === "") return { outcome: "no-bid", reason: null };
  const list = parsed(body);
  if (!Array.isArray(list)) return { outcome: "malformed" };
  const bids: SentBid[] = [];
  for (const bid of list.slice(0, MAX_BIDS)) {
    if (typeof bid !== "object" || bid === null) return { outcome: "malformed" };
    bids.push(bidOf(bid as Readonly<Record<string, unknown>>));
  }
  if (bids.length === 0) return { outcome: "no-bid", reason: null };
  return { outcome: "bids", responseId: undefined, bidId: undefined, currency: CURRENCY, bids };
}

function parsed(body: string): unknown {
  try {
    return parseWithTexts(body, ["bid_price"]);
  } catch (error) {
    // The second one where values are nested thousands of times.
    if (error instanceof SyntaxError || error instanceof RangeError) return undefined;
    throw error;
  }
}

const VIDEO = 2;
const BANNER = 1;

function bidOf(bid: Readonly<Record<string, unknown>>): SentBid {
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

/** Without what neither an address nor the database takes. */
function textOf(value: unknown): string | undefined {
  if (typeof value === "number") return String(value);
  return typeof value === "string" ? storableText(value, value.length).trim() || undefined : undefined;
}
