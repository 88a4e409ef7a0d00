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

/** One event to be booked, whatever brought it. Its id is what makes a repeat harmless. */
export interface EventLine {
  eventId: string;
  event: "rewarded" | "direct_link";
  userId: string;
  code: string | null;
  reference: string | null;
  occurredAt: string | null;
  isTest: boolean;
  rawBody: string | null;
  signatureHeader: string | null;
  isTwoField: boolean;
}

export interface Payout {
  readonly rewarded: number;
  readonly directLink: number;
  /** Paid rewards of a user in one UTC day; undefined is no cap. */
  readonly dailyCap: number | undefined;
  readonly perCode: "once" | "each";
}
