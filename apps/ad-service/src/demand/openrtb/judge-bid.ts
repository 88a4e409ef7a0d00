import type { BidOutcome } from "@intermission/operator-api/bid-outcomes";
import { type RegulatedKind, regulatedCategories } from "@intermission/operator-api/regulated-categories";
import type { BidResponse, SentBid } from "./read-bid-response.ts";
import { readPrice } from "./read-price.ts";

/** AdCOM, "Creative Markup Types". */
export const BANNER = 1;
export const VIDEO = 2;
export const NATIVE = 4;

/** What a bid is checked against: what was requested, and what the operator does not allow of this buyer. */
export interface BidRules {
  requestId: string;
  impressionId: string;
  currency: string;
  /** What was requested, in AdCOM's numbers; a bid that names none is judged by its markup alone. */
  markupTypes: readonly number[];
  floorMicros: number;
  /** Of this taxonomy (AdCOM, "Category Taxonomies"). */
  blockedCategories: readonly string[];
  taxonomy: number;
  blockedDomains: readonly string[];
  needsCategory: boolean;
  /** Kinds of ads that laws restrict, and the operator allows. */
  allowedRegulated: readonly RegulatedKind[];
}

/** Pop-ups, shaking pictures, dialogs that look like the system's, and Flash (AdCOM, "Creative Attributes"). */
export const blockedAttributes = [8, 10, 14, 17];

/** What became of one bid; `lost` until the auction is decided. */
export interface JudgedBid {
  readonly bid: SentBid;
  /** For 1,000 impressions. */
  readonly cpmMicros: number | null;
  outcome: BidOutcome;
}

/** A bid that may be shown. */
export type FitBid = JudgedBid & { readonly cpmMicros: number };

/** What became of a request: of several bids, what became of one that may be shown, else of the first. */
export interface JudgedAnswer {
  outcome: BidOutcome;
  /** The buyer's reason for no bid, by its number in OpenRTB's list. */
  readonly reason: number | null;
  readonly responseBidId: string | undefined;
  readonly bids: readonly JudgedBid[];
}

/** Judges what an answer was read as. */
export function judgeResponse(response: BidResponse, rules: BidRules): JudgedAnswer {
  if (response.outcome !== "bids") {
    const reason = response.outcome === "no-bid" ? response.reason : null;
    return { outcome: response.outcome, reason, responseBidId: undefined, bids: [] };
  }
  const bids = response.bids.map((bid) => judgeBid(bid, response, rules));
  const outcome = bids.some(isFit) ? "lost" : (bids[0]?.outcome ?? "no-bid");
  return { outcome, reason: null, responseBidId: response.bidId, bids };
}

export function isFit(judged: JudgedBid): judged is FitBid {
  return judged.outcome === "lost" && judged.cpmMicros !== null;
}

/** One rule after another: the first that a bid breaks names its outcome. `lost`: it breaks none, and has not won yet. */
function judgeBid(
  bid: SentBid,
  { responseId, currency }: Pick<Extract<BidResponse, { outcome: "bids" }>, "responseId" | "currency">,
  rules: BidRules,
): JudgedBid {
  const price = readPrice(bid.price);
  const cpmMicros = price.outcome === "price" ? price.cpmMicros : null;
  const judged = (outcome: BidOutcome): JudgedBid => ({ bid, outcome, cpmMicros });
  if (responseId !== undefined && responseId !== rules.requestId) return judged("other-request");
  if (bid.impressionId !== rules.impressionId) return judged("other-impression");
  if (currency !== rules.currency) return judged("other-currency");
  if (price.outcome !== "price") return judged(price.outcome);
  if (price.cpmMicros < rules.floorMicros) return judged("below-floor");
  if (bid.markupType !== undefined && !rules.markupTypes.includes(bid.markupType)) return judged("other-format");
  if (bid.markup === undefined && bid.nurl === undefined) return judged("no-markup");
  if (bid.domains.some((domain) => isBlockedDomain(domain, rules.blockedDomains))) return judged("blocked-domain");
  if (bid.attributes.some((attribute) => blockedAttributes.includes(attribute))) return judged("blocked-attribute");
  return judged(categoryFault(bid, rules) ?? "lost");
}

function categoryFault(bid: SentBid, rules: BidRules): "blocked-category" | "no-category" | undefined {
  // The check covers every taxonomy, whatever the operator blocks. In an unknown taxonomy any category may be regulated.
  const regulated = regulatedCategories(bid.taxonomy, rules.allowedRegulated);
  if (bid.categories.some((category) => regulated === undefined || isBlockedCategory(category, regulated)))
    return "blocked-category";
  const categories = bid.taxonomy === rules.taxonomy ? bid.categories : [];
  if (categories.some((category) => isBlockedCategory(category, rules.blockedCategories))) return "blocked-category";
  return rules.needsCategory && categories.length === 0 ? "no-category" : undefined;
}

/** `IAB25` blocks `IAB25-3`, too: in the first taxonomy, the part before the dash is the group. */
function isBlockedCategory(category: string, blocked: readonly string[]): boolean {
  const code = category.toLowerCase();
  return blocked.some((one) => code === one.toLowerCase() || code.startsWith(`${one.toLowerCase()}-`));
}

/** A domain blocks those below it. Some buyers send an address in place of the domain. */
function isBlockedDomain(domain: string, blocked: readonly string[]): boolean {
  const host = domain
    .toLowerCase()
    .replace(/^[a-z]+:\/\//, "")
    .replace(/[/:?#].*$/s, "")
    .replace(/^www\./, "")
    .replace(/\.$/, "");
  return blocked.some((one) => host === one || host.endsWith(`.${one}`));
}
