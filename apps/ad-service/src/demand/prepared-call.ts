import type { RequestedBuyer } from "../buyers/buyers.ts";
import type { BidOpening, Seller } from "./openrtb/bid-request.ts";
import type { BidRules, JudgedAnswer } from "./openrtb/judge-bid.ts";

/** A request that was sent to a buyer, in whatever protocol. */
export interface SentRequest {
  id: string;
  botId: string;
  /** Marked as a test: what it is answered is not paid. */
  isTest: boolean;
  /** As it may be kept: whose it was is left out. */
  kept: () => string;
}

export interface CallQuestion {
  opening: BidOpening;
  buyer: RequestedBuyer;
  /** Undefined: the operator has entered none. */
  key: string | undefined;
  seller: Seller;
  tmaxMs: number;
}

/** What a protocol sends for an opening, and how it reads the answer: all that differs between buyers. */
export interface PreparedCall {
  request: SentRequest;
  /** Beside those of every request. */
  headers: Readonly<Record<string, string>>;
  body: string;
  /** Judges the body of an answer with the status 200. Throws nothing, whatever it is. */
  judge(body: string, rules: Omit<BidRules, "requestId" | "impressionId" | "currency" | "markupTypes">): JudgedAnswer;
}
