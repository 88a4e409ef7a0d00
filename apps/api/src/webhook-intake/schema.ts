/** One webhook that was kept: its bytes verified, and what they did to the ledger. */
export interface Receipt {
  receivedAt: string;
  outcome: ReceiptOutcome;
  /** Why it paid nothing, or was not booked. */
  reason: string | null;
  event: "rewarded" | "direct_link" | null;
  eventId: string | null;
  /** The text whose UTF-8 bytes were signed; null where reconciliation fetched the event. */
  rawBody: string | null;
  /** `X-Signature` as it came. Not a secret. */
  signatureHeader: string | null;
  /** Nothing is kept before its signature holds. */
  verified: true;
}

/** `refused`: in the ledger with zero units. `unmatched`: not in the ledger, because it names no code and none fits. */
export type ReceiptOutcome = "booked" | "refused" | "unmatched";
