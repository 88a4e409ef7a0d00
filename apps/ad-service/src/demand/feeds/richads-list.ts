import { storableText } from "@intermission/postgres/storable-text";
import { parseWithTexts } from "@intermission/server/exact-json";
import type { BidResponse, SentBid } from "../openrtb/read-bid-response.ts";

/** Its accounts are in dollars, and its prices name no currency. */
export const RICHADS_CURRENCY = "USD";
const MAX_BIDS = 5;

export type RichAdsBid = Readonly<Record<string, unknown>>;

/** Reads an answer of RichAds, a list of bids; an empty one is no bid. */
export function readRichAdsList(body: string, bidOf: (bid: RichAdsBid) => SentBid): BidResponse {
  if (body.trim() === "") return { outcome: "no-bid", reason: null };
  const list = parsed(body);
  if (!Array.isArray(list)) return { outcome: "malformed" };
  const bids: SentBid[] = [];
  for (const bid of list.slice(0, MAX_BIDS)) {
    if (typeof bid !== "object" || bid === null) return { outcome: "malformed" };
    bids.push(bidOf(bid as RichAdsBid));
  }
  if (bids.length === 0) return { outcome: "no-bid", reason: null };
  return { outcome: "bids", responseId: undefined, bidId: undefined, currency: RICHADS_CURRENCY, bids };
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

/** Without what neither an address nor the database takes. */
export function textOf(value: unknown): string | undefined {
  if (typeof value === "number") return String(value);
  return typeof value === "string" ? storableText(value, value.length).trim() || undefined : undefined;
}

/** Facts of the viewer as an exchange keeps them. */
export function notKept(facts: object): Record<string, string> {
  return Object.fromEntries(Object.keys(facts).map((name) => [name, "sent, not kept"]));
}
