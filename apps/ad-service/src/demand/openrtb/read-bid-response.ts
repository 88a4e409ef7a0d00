import { storableText } from "@intermission/postgres/storable-text";
import { parseWithTexts } from "@intermission/server/exact-json";

/** A bid as it was sent: everything but the price is read generously, and nothing is judged yet. */
export interface SentBid {
  bidId: string;
  impressionId: string;
  /** The text of the number in the JSON, or the text that stood in its place. */
  price: string | undefined;
  seat: string | undefined;
  markup: string | undefined;
  nurl: string | undefined;
  burl: string | undefined;
  lurl: string | undefined;
  creativeId: string | undefined;
  domains: readonly string[];
  categories: readonly string[];
  /** AdCOM, "Category Taxonomies"; 1 where the bid names none. */
  taxonomy: number;
  attributes: readonly number[];
  /** AdCOM has 1 to 4 for banner, video, audio and native; undefined where the bid does not say. */
  markupType: number | undefined;
}

export type BidResponse =
  | { outcome: "bids"; responseId: string | undefined; bidId: string | undefined; currency: string; bids: SentBid[] }
  /** `reason`: the buyer's `nbr`. */
  | { outcome: "no-bid"; reason: number | null }
  | { outcome: "malformed" };

const MAX_BIDS = 100;
const MAX_LIST = 100;
/** Where a response names no currency (OpenRTB 2.6, 3.2.19). */
const USUAL_CURRENCY = "USD";

/**
 * Reads the body of an answer with the status 200. A blank body, `{}`, no seat, seats without bids, and `nbr` are no bids; unknown
 * fields are ignored; texts may be numbers and lists may be single values.
 */
export function readBidResponse(body: string): BidResponse {
  if (body.trim() === "") return { outcome: "no-bid", reason: null };
  const response = parsed(body);
  if (!isObject(response)) return { outcome: "malformed" };
  const seats = response.seatbid ?? [];
  if (!Array.isArray(seats)) return { outcome: "malformed" };
  const bids: SentBid[] = [];
  for (const seat of seats) {
    const sent = isObject(seat) ? (seat.bid ?? []) : undefined;
    if (!isObject(seat) || !Array.isArray(sent)) return { outcome: "malformed" };
    for (const bid of sent) {
      if (!isObject(bid)) return { outcome: "malformed" };
      if (bids.length < MAX_BIDS) bids.push(bidOf(bid, textOf(seat.seat)));
    }
  }
  if (bids.length === 0) return { outcome: "no-bid", reason: wholeOf(response.nbr) ?? null };
  const currency = (textOf(response.cur) ?? USUAL_CURRENCY).toUpperCase();
  return { outcome: "bids", responseId: textOf(response.id), bidId: textOf(response.bidid), currency, bids };
}

type JsonObject = Readonly<Record<string, unknown>>;

function parsed(body: string): unknown {
  try {
    return parseWithTexts(body, ["price"]);
  } catch (error) {
    // The second one where values are nested thousands of times.
    if (error instanceof SyntaxError || error instanceof RangeError) return undefined;
    throw error;
  }
}

function bidOf(bid: JsonObject, seat: string | undefined): SentBid {
  return {
    bidId: textOf(bid.id) ?? "",
    impressionId: textOf(bid.impid) ?? "",
    price: typeof bid.price === "string" ? bid.price : undefined,
    seat,
    markup: textOf(bid.adm),
    nurl: textOf(bid.nurl),
    burl: textOf(bid.burl),
    lurl: textOf(bid.lurl),
    creativeId: textOf(bid.crid),
    domains: listOf(bid.adomain).flatMap((domain) => textOf(domain) ?? []),
    categories: listOf(bid.cat).flatMap((category) => textOf(category) ?? []),
    taxonomy: wholeOf(bid.cattax) ?? 1,
    attributes: listOf(bid.attr).flatMap((attribute) => wholeOf(attribute) ?? []),
    markupType: wholeOf(bid.mtype),
  };
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Undefined for an empty text, too. Without what neither an address nor the database takes: U+0000, half of a surrogate pair. */
function textOf(value: unknown): string | undefined {
  if (typeof value === "number") return String(value);
  return typeof value === "string" ? storableText(value, value.length).trim() || undefined : undefined;
}

/** Of the database's integers. */
const MAX_WHOLE = 2 ** 31 - 1;

function wholeOf(value: unknown): number | undefined {
  const number = typeof value === "string" && /^\d{1,9}$/.test(value.trim()) ? Number(value) : value;
  return typeof number === "number" && Number.isInteger(number) && number >= 0 && number <= MAX_WHOLE
    ? number
    : undefined;
}

function listOf(value: unknown): readonly unknown[] {
  if (value === undefined || value === null) return [];
  return Array.isArray(value) ? value.slice(0, MAX_LIST) : [value];
}
