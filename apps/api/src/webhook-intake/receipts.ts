/** One webhook that was kept: its verified bytes, and its effect on the ledger. */
export interface Receipt {
  receivedAt: string;
  outcome: ReceiptOutcome;
  /** Why it paid nothing, or was not recorded. */
  reason: string | null;
  /** The event's id; made here if it has none. */
  eventId: string;
  /** The following fields are null if the webhook was not an event. */
  event: "rewarded" | "direct_link" | null;
  userId: string | null;
  code: string | null;
  /** Whole units; null if it has no entry in the ledger. */
  amount: number | null;
  /** Number of arrivals after the first. */
  duplicates: number;
  lastDuplicateAt: string | null;
  /** The text whose UTF-8 bytes were signed, for an invalid one its beginning; null if reconciliation fetched the event. */
  rawBody: string | null;
  /** `X-Signature` as received. Not a secret. */
  signatureHeader: string | null;
  /** Nothing is kept before its signature is verified. */
  verified: true;
}

/**
 * `refused`: in the ledger with zero units. `unmatched`: not in the ledger, because it names no code and none fits.
 * `invalid`: signed, but not an event for this bot.
 */
export type ReceiptOutcome = "credited" | "refused" | "unmatched" | "invalid";

export interface ReceiptQuery {
  /** `duplicate`: those that arrived more than once. `event`: all that are not invalid. */
  outcome?: ReceiptOutcome | "duplicate" | "event" | undefined;
  userId?: string | undefined;
  since?: Date | undefined;
  limit: number;
}

/** Webhooks without a valid signature, of which only this count is kept. */
export interface RefusalCount {
  hour: string;
  reason: string;
  refused: number;
  lastAt: string;
}

/** One event to be recorded, from any source. Its id makes a repeat harmless. */
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
}

export interface ReceiptVerbs {
  listReceipts(query: ReceiptQuery): Promise<Receipt[]>;
  listRefusals(since: Date): Promise<RefusalCount[]>;
}
