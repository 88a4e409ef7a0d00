import type { BidOutcome } from "@intermission/operator-api/bid-outcomes";
import type { BuyerProtocol } from "@intermission/operator-api/buyers";
import type { ConsentOutcome } from "@intermission/operator-api/consent-outcomes";
import { storableText } from "@intermission/postgres/storable-text";
import type { SecretBox } from "@intermission/server/secret-box";
import type { RequestedBuyer } from "../buyers/buyers.ts";
import type { GuardedRequests } from "../outbound/guarded-request.ts";
import type { GuardedResult } from "../outbound/outgoing-request.ts";
import { decodeContent } from "../vast/decode-document.ts";
import { prepareRichAds } from "./feeds/richads.ts";
import { prepareRichAdsCards } from "./feeds/richads-cards.ts";
import { isPermitted, judgeConsent } from "./judge-consent.ts";
import type { BidOpening, Seller } from "./openrtb/bid-request.ts";
import type { JudgedAnswer } from "./openrtb/judge-bid.ts";
import { prepareOpenRtb } from "./openrtb/openrtb-call.ts";
import type { CallQuestion, PreparedCall, SentRequest } from "./prepared-call.ts";

/** A buyer's answer to one opening, judged. */
export interface BuyerAnswer extends JudgedAnswer {
  buyer: RequestedBuyer;
  /** Undefined where no request was sent. */
  request: SentRequest | undefined;
  tookMs: number;
  /** What the server answered in place of a bid response, or what was wrong with the markup of a bid. */
  detail: string | null;
  readonly body: string | null;
  /** Whether the address and an id might go to it; null: the operator lets it have none. */
  consent: ConsentOutcome | null;
}

export interface BidDeps {
  requests: Pick<GuardedRequests, "guardedRequest">;
  secretBox: SecretBox;
  seller: Seller;
}

const MAX_ANSWER_BYTES = 256 * 1024;
const MAX_DETAIL = 300;
/** Less is not worth a request. */
const MIN_TMAX_MS = 20;

/** Sends a buyer one request, and judges what comes back within `leftMs`. Throws only for faults of this service. */
export async function requestBid(
  { requests, secretBox, seller }: BidDeps,
  buyer: RequestedBuyer,
  { opening, leftMs }: { opening: BidOpening; leftMs: number },
): Promise<BuyerAnswer> {
  const tmaxMs = Math.min(buyer.tmaxMs, Math.floor(leftMs));
  if (tmaxMs < MIN_TMAX_MS) return notSent(buyer, "no-time");
  const key = buyer.sealedKey === null ? undefined : secretBox.open(buyer.sealedKey, buyer.buyerId);
  const consent = buyer.sends.length === 0 ? null : judgeConsent(opening.consent, buyer.tcfVendorId);
  const permitted = consent === null || isPermitted(consent) ? buyer : { ...buyer, sends: [] };
  const call = protocols[buyer.protocol]({ opening, buyer: permitted, key, seller, tmaxMs });
  if (call === undefined) return { ...notSent(buyer, "not-permitted"), consent };
  const { request } = call;
  const startedAt = performance.now();
  const result = await requests.guardedRequest({
    url: buyer.url,
    method: "POST",
    purpose: "buyer",
    headers: { ...usualHeaders, ...call.headers },
    body: call.body,
    maxBodyBytes: MAX_ANSWER_BYTES,
    totalTimeoutMs: tmaxMs,
  });
  const tookMs = Math.round(performance.now() - startedAt);
  const read = await readResult(result, { tookMs, tmaxMs });
  const sent = { buyer, request, tookMs, consent };
  if (read.outcome !== "body") return { ...sent, ...nothing, body: null, outcome: read.outcome, detail: read.detail };
  const { body } = read;
  return { ...sent, ...call.judge(body, rulesFor(buyer)), detail: null, body };
}

/** How each kind of buyer is requested. Undefined: something that it requires was not entered, or may not be sent. */
const protocols = {
  openrtb: prepareOpenRtb,
  richads: prepareRichAds,
  "richads-cards": prepareRichAdsCards,
} satisfies Record<BuyerProtocol, (question: CallQuestion) => PreparedCall | undefined>;

const nothing = { reason: null, responseBidId: undefined, bids: [] };

/** Of a buyer to which nothing was sent. */
export function notSent(
  buyer: RequestedBuyer,
  outcome: Extract<BidOutcome, "resting" | "busy" | "no-time" | "unreachable" | "not-permitted">,
): BuyerAnswer {
  return { ...nothing, buyer, request: undefined, tookMs: 0, outcome, detail: null, body: null, consent: null };
}

const usualHeaders = {
  "content-type": "application/json",
  accept: "application/json",
  "user-agent": "Intermission",
};

function rulesFor(buyer: RequestedBuyer): Parameters<PreparedCall["judge"]>[1] {
  const { floorMicros, blockedCategories, categoryTaxonomy: taxonomy, needsCategory, allowedRegulated } = buyer;
  const blockedDomains = buyer.blockedDomains.map((domain) => domain.toLowerCase());
  return { floorMicros, blockedCategories, taxonomy, blockedDomains, needsCategory, allowedRegulated };
}

type ReadResult =
  | { outcome: "body"; body: string }
  | {
      outcome: Extract<BidOutcome, "no-bid" | "timeout" | "unreachable" | "status" | "malformed" | "too-large">;
      detail: string | null;
    };

async function readResult(
  result: GuardedResult,
  { tookMs, tmaxMs }: { tookMs: number; tmaxMs: number },
): Promise<ReadResult> {
  if (result.outcome === "failed") {
    const detail = storableText(`${result.errorClass}: ${result.detail}`, MAX_DETAIL);
    switch (result.errorClass) {
      case "timeout-connect":
      case "timeout-total":
        return { outcome: "timeout", detail };
      case "redirect":
        return { outcome: "status", detail };
      case "too-large":
        return { outcome: "too-large", detail };
      case "dns":
      case "refused":
      case "reset":
      case "tls":
      case "blocked-address":
      case "protocol":
        return { outcome: "unreachable", detail };
      default:
        return result.errorClass satisfies never;
    }
  }
  if (result.status === 204) return { outcome: "no-bid", detail: null };
  if (result.status !== 200)
    return { outcome: "status", detail: storableText(`status ${result.status}: ${result.text}`, MAX_DETAIL) };
  if (!result.body) {
    if (result.bodyBytes >= MAX_ANSWER_BYTES) return { outcome: "too-large", detail: null };
    return tookMs >= tmaxMs
      ? { outcome: "timeout", detail: null }
      : { outcome: "unreachable", detail: `the answer broke off after ${result.bodyBytes} bytes` };
  }
  const { body, contentEncoding } = result;
  const decoded = await decodeContent({ body, contentEncoding }, { maxBytes: MAX_ANSWER_BYTES });
  if (decoded.outcome === "too-large") return { outcome: "too-large", detail: null };
  if (decoded.outcome === "undecodable")
    return { outcome: "malformed", detail: `no valid ${contentEncoding ?? "text"}` };
  // A byte order mark is no JSON, and some servers send one.
  return { outcome: "body", body: new TextDecoder().decode(decoded.body) };
}
